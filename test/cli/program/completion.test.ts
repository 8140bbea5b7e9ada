import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '@oclif/core';
import { describe, expect, it } from 'vitest';
import { renderFishCompletion } from '../../../cli/program/fish-completion.ts';
import { topics } from '../../../cli/program/topics.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { loadCommands } from '../reference.ts';
import { commandLine, createCommandLine, ownEnvironment } from '../svcadmin.ts';

/** The words of a line as fish parses them: bare, or in single quotes with `\'` and `\\`. */
function fishWords(line: string): string[] {
  const word = /\s*(?:'((?:[^'\\]|\\['\\])*)'|([^\s'"\\$()]+))/y;
  const found: string[] = [];
  while (word.lastIndex < line.length) {
    const match = word.exec(line);
    if (!match) throw new Error(`fish would stumble over: ${line}`);
    found.push(match[1]?.replace(/\\(['\\])/g, '$1') ?? match[2] ?? '');
  }
  return found;
}

const completions = (script: string): string[][] =>
  script
    .split('\n')
    .filter((line) => line.startsWith('complete '))
    .map(fishWords);

describe('svcadmin autocomplete fish', () => {
  it('offers every group, every command, and every flag with its values', async () => {
    const svcadmin = await commandLine('http://127.0.0.1:1', '');
    const { code, stdout } = await svcadmin.run(['autocomplete', 'fish']);
    expect(code).toBe(0);
    const lines = completions(stdout);
    const commands = await loadCommands();
    expect(commands.length).toBeGreaterThan(60);
    for (const { id, flags } of commands) {
      const path = id.split(':');
      const before = ['__svcadmin_words at', ...path.slice(0, -1)].join(' ');
      expect(lines).toContainEqual(expect.arrayContaining([before, '-a', path.at(-1)]));
      for (const name of Object.keys(flags)) {
        const there = `__svcadmin_words in ${path.join(' ')}`;
        expect(lines).toContainEqual(expect.arrayContaining([there, '-l', name]));
      }
    }
    for (const topic of Object.keys(topics)) {
      expect(lines).toContainEqual(expect.arrayContaining(['__svcadmin_words at', '-a', topic]));
    }
    const mode = lines.find(
      (words) => words.includes('__svcadmin_words in wallets fund') && words.includes('mode'),
    );
    expect(mode).toContain('test live');
  });

  it('offers the commands of svc, and none that only operators have, if svc runs it', async () => {
    const cwd = temporaryFolder('svc');
    const svc = createCommandLine('svc', { cwd, env: ownEnvironment(cwd) });
    const { code, stdout } = await svc.run(['autocomplete', 'fish']);
    expect(code).toBe(0);
    const lines = completions(stdout);
    for (const words of [
      ['at', 'trigger'],
      ['at keys', 'rotate'],
      ['at', 'webhooks'],
    ])
      expect(lines).toContainEqual(expect.arrayContaining([`__svc_words ${words[0]}`, words[1]]));
    expect(stdout).not.toContain('operators');
    expect(stdout).toContain('webhook URLs of API keys');
  });

  it('escapes quotes and backslashes in descriptions', () => {
    const command = { id: 'run', summary: "It's C:\\ and $HOME. More.", flags: {} };
    const script = renderFishCompletion('tool', [command as unknown as Command.Loadable], {});
    expect(completions(script)).toContainEqual(
      expect.arrayContaining(['__tool_words at', 'run', "It's C:\\ and $HOME"]),
    );
  });
});

describe.each(['bash', 'zsh'] as const)('svcadmin autocomplete %s', (shell) => {
  it.skipIf(spawnSync(shell, ['--version']).status !== 0)(
    'offers topics, verbs, flags and the values of flags, in the shell itself',
    async () => {
      const svcadmin = await commandLine('http://127.0.0.1:1', '');
      const { code, stdout } = await svcadmin.run(['autocomplete', shell]);
      expect(code).toBe(0);
      const file = join(temporaryFolder('completion'), 'script');
      await writeFile(file, stdout);
      /** What the shell offers after these words. */
      const offered = (...words: string[]) => {
        const typed = ['svcadmin', ...words].map((word) => `'${word}'`).join(' ');
        // As zsh runs completions of bash.
        const array = shell === 'zsh' ? 'emulate sh;' : '';
        const ask = `${array} COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _svcadmin; echo "\${COMPREPLY[@]}"`;
        const ended = spawnSync(shell, ['-c', `source ${file}; ${ask}`], { encoding: 'utf8' });
        expect(ended.stderr).toBe('');
        // zsh leaves out what does not begin with the typed letters only when it shows the list.
        const found = ended.stdout.trim().split(' ');
        return found.filter((word) => word.startsWith(words.at(-1) ?? ''));
      };
      expect(offered('wal')).toEqual(['wallets']);
      expect(offered('wallets', 'fu')).toEqual(['fund']);
      expect(offered('wallets', 'fund', 'ptr_1', '--mod')).toEqual(['--mode']);
      expect(offered('wallets', 'fund', '--mode', '')).toEqual(['test', 'live']);
      expect(offered('--json', 'deliveries', 'list', '--status', 'fa')).toEqual(['failed']);
      expect(offered('partners', 'list', '--search', 'x')).toEqual([]);
    },
  );
});

describe('the built oclif manifest', () => {
  it('has the ids, summaries, flags and arguments of the compiled commands', async () => {
    const manifest = JSON.parse(
      await readFile(new URL('../../../dist/cli/oclif.manifest.json', import.meta.url), 'utf8'),
    ) as { commands: Record<string, Command.Cached> };
    const commands = await loadCommands();
    expect(Object.keys(manifest.commands).sort()).toEqual(commands.map(({ id }) => id));
    for (const { id, summary, flags, args } of commands) {
      expect(manifest.commands[id]).toMatchObject(JSON.parse(JSON.stringify({ summary, flags, args })));
    }
  });
});
