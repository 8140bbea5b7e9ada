import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { identifierPrefixes } from '../../../contracts/identifiers.ts';
import { svcCommandLine } from '../svc/member-line.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

const commands = fileURLToPath(new URL('../../../cli/commands', import.meta.url));
type Fields = Record<string, { description?: string }>;

/** These accept a name too, or an id without a prefix that their message explains. */
const others = new Set(['partners show', 'clients show']);
/** The description of an argument or a flag for the id of a record. */
const ofRecord = /\bids? of\b|^only (requests )?of this (partner|API key|client|session|enrollment|event)\b/;

/** Command lines that give a name where the command needs an id. */
async function linesWithName(name: string): Promise<string[][]> {
  const files = readdirSync(commands, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const lines = await Promise.all(
    files.map(async (file) => {
      const module = (await import(pathToFileURL(join(commands, file)).href)) as {
        default: { args?: Fields; flags?: Fields };
      };
      const command = file.replace(/\.ts$/, '').split('/');
      if (others.has(command.join(' ')) || command[0] === 'jobs') return [];
      const { args = {}, flags = {} } = module.default;
      const isRecord = ([, { description = '' }]: [string, { description?: string }]) =>
        ofRecord.test(description);
      const [argument] = Object.entries(args);
      return [
        ...(argument && isRecord(argument) ? [[...command, name]] : []),
        ...Object.entries(flags)
          .filter(isRecord)
          .map(([flag]) => [...command, `--${flag}`, name]),
      ];
    }),
  );
  return lines.flat();
}

let svcadmin: CommandLine;
beforeAll(async () => {
  // No server answers here, so that a command which calls it exits with 7.
  svcadmin = await commandLine('http://127.0.0.1:9');
});

describe('a name where a command needs an id', () => {
  it('is refused before the server is called, with the form of the id and a command that shows it', async () => {
    const lines = await linesWithName('Kim Park');
    expect(lines.length).toBeGreaterThan(95);
    const wrong: string[] = [];
    for (const line of lines) {
      const { code, stderr } = await svcadmin.run(line);
      const { prefix = '', words = '' } =
        /^Error: No [\w ]+ Kim Park \(not_found\)\n.*, (?<prefix>\w+_)…: `svcadmin (?<words>[a-z -]+)\b.*`/.exec(
          stderr,
        )?.groups ?? {};
      const path = words.trim().split(' ').slice(0, 2).join('/');
      const isClear = Object.values<string>(identifierPrefixes).includes(prefix);
      if (code !== 4 || !isClear || !existsSync(`${commands}/${path}.ts`))
        wrong.push(`${line.join(' ')}: ${code} ${stderr.slice(0, 300)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('is refused with a command that members have, too', async () => {
    const svc = svcCommandLine('http://127.0.0.1:9');
    for (const [line, hint] of [
      ['entry', '`svc statement` shows it'],
      ['bulk show', '`svc deliveries resend` shows it'],
      ['members remove', '`svc members list` shows it'],
      ['keys revoke', '`svc keys list` shows it'],
    ] as const) {
      const { code, stderr } = await svc.run([...line.split(' '), 'Kim Park']);
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(hint) });
    }
  });

  it('is not echoed if it is a part of a secret, also one as long as a sub', async () => {
    const part = 'svc_live_'.padEnd(43, 'a1B2');
    const { code, stderr } = await svcadmin.run(['users', 'show', part]);
    expect(code).toBe(2);
    expect(stderr).toContain('is a live API key: it was not looked up, and not sent anywhere');
    expect(stderr).not.toContain(part);
  });

  it('is refused with that command also if it is an id of another kind', async () => {
    const { code, stderr } = await svcadmin.run(['operators', 'revoke', `key_${'0'.repeat(22)}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('is an API key; this needs opr_… (bad_input)');
    expect(stderr).toContain('`svcadmin operators list` shows it');
  });

  it('passes where it has the prefix of the kind, because the server knows its records', async () => {
    for (const id of ['opr_first', 'opr_short'])
      expect(await svcadmin.run(['operators', 'revoke', id, '--yes'])).toMatchObject({ code: 7 });
    const refund = ['wallets', 'entry', `rev_txn_${'0'.repeat(22)}`];
    expect(await svcadmin.run(refund)).toMatchObject({ code: 7 });
    expect(await svcadmin.run(['users', 'show', '0'.repeat(43)])).toMatchObject({ code: 7 });
  });
});
