import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine, executable } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const run = async (...args: string[]) => (await commandLine(server.adminUrl)).run(args);

describe('svcadmin with a misspelt flag', () => {
  it.each([
    ['--limit', 'partners list --limt 3', 'Nonexistent flag: --limt; did you mean --limit?'],
    ['--json', 'partners list --jsno', 'Nonexistent flag: --jsno; did you mean --json?'],
    ['--dry-run', 'partners suspend ptr_1 --dryrun', 'Nonexistent flag: --dryrun; did you mean --dry-run?'],
    ['--status', 'partners list --statsu=pending', 'did you mean --status?'],
  ])('exits with 2 and suggests %s for %s', async (_flag, words, said) => {
    const { code, stderr } = await run(...words.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });

  it('suggests no flag if none is similar', async () => {
    expect((await run('partners', 'list', '--colour')).stderr).not.toContain('did you mean');
  });
});

describe('svcadmin partners list', () => {
  it.each([
    ...['partners list -o json', 'partners list -ojson', 'partners list --output json'],
    ...['partners list --output=json', 'partners ls --json', '--json partners list'],
    ...['--url URL --json partners list --limit 3', '--url=URL partners ls -o json'],
  ])('may be typed as svcadmin %s', async (words) => {
    const { code, stdout } = await run(...words.replace('URL', server.adminUrl).split(' '));
    expect([code, JSON.parse(stdout)]).toEqual([0, []]);
  });

  it.each(['partners list -o yaml', 'partners list -- -o json', '--limit 3 partners list', 'whoami ls'])(
    'is refused as svcadmin %s',
    async (words) => {
      expect(await run(...words.split(' '))).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

describe('a subject (SUB) that begins with a dash', () => {
  const subject = `-${'h'.repeat(42)}`;
  it.each(['users show SUB', 'users show --json SUB', 'users show SUB --reason SUB', 'users show -- SUB'])(
    'is read as the argument, and not as a flag, in svcadmin %s',
    async (words) => {
      const { code, stderr } = await run(...words.replaceAll('SUB', subject).split(' '));
      expect(stderr).toContain('No user');
      expect(code).toBe(4);
    },
  );
});

describe('the version of svcadmin', () => {
  it('is printed by -v, --version and version', async () => {
    for (const word of ['-v', '--version', 'version']) {
      const { code, stdout } = await run(word);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^svc-gateway\/\d+\.\d+\.\d+ \S+ node-v\d+/);
    }
    const { stdout } = await run('version', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d/),
      node: process.version,
    });
  });
});

describe('svcadmin login', () => {
  it('exits with 7 before it reads a token if no server of this service is at the address', async () => {
    const other = createServer((_request, response) => void response.end('<html>')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    onTestFinished(() => void other.close());
    const svcadmin = await commandLine(server.adminUrl, undefined);
    for (const url of ['http://127.0.0.1:1', `http://127.0.0.1:${(other.address() as AddressInfo).port}`]) {
      // A command that reads the token first would not end.
      const { code } = await svcadmin.run(['login', '--url', url, '--token-stdin'], { isWaiting: true });
      expect([url, code]).toEqual([url, 7]);
    }
  });
});

describe('a command whose output is piped to a program that ends early', () => {
  it('exits with 0 and prints no error', async () => {
    for (let n = 0; n < 3; n += 1)
      await server.admin.partners.create.mutate({ name: 'A long name '.repeat(10) });
    const { cwd, env } = await commandLine(server.adminUrl);
    const line = `${process.execPath} ${executable} partners list --json | true; echo "\${PIPESTATUS[0]}"`;
    const shell = spawn('bash', ['-c', line], { cwd, env });
    let [stdout, stderr] = ['', ''];
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    shell.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    await new Promise((resolve) => shell.on('close', resolve));
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });
});
