import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine, executable } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const wrongToken = { env: { SVCADMIN_TOKEN: 'wrong' } };
const noServer = { env: { SVCADMIN_URL: 'http://127.0.0.1:1' } };

/** The arguments, the condition, the exit code, and the differing environment or input. */
const calls: [
  args: string,
  condition: string,
  code: number,
  options?: { input?: string; env?: Record<string, string> },
][] = [
  ['partners create --help', 'with a valid token', 0],
  ['whoami --json', 'with a valid token', 0],
  ['login --token-stdin', 'with a valid token on stdin', 0, { input: adminToken }],
  ['doctor --json', 'with a wrong token', 1, wrongToken],
  ['partners conjure', 'a command that does not exist', 2],
  ['whoami --json', 'with a file in place of its directory', 0, { env: { XDG_CONFIG_HOME: '/dev/null' } }],
  ['whoami --json', 'with a wrong token', 3, wrongToken],
  ['whoami', 'with the address of no server', 7, noServer],
];

/** Most tests run commands in this process, so a real process must end the same way. */
it.each(calls)(
  'a process of svcadmin %s (%s) exits with %i and prints the same as this command when the test process runs it',
  async (words, _condition, code, options = {}) => {
    const args = words.split(' ');
    const started = await svcadmin.start(args, options);
    expect(started.code).toBe(code);
    expect(await svcadmin.run(args, options)).toEqual(started);
  },
);

it('a command that calls the server uses neither fetch nor all of oclif, which take longer than the rest of the command', async () => {
  const report = `import { _cache } from 'node:module';
    globalThis.fetch = () => process.stderr.write('fetch');
    process.once('exit', () => {
      const loaded = Object.keys(_cache).filter((path) => /oclif.core.lib.index|semver/.test(path));
      process.stderr.write(loaded.join());
    });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };
  expect(await svcadmin.start(['whoami', '--json'], { env })).toMatchObject({ code: 0, stderr: '' });
});

it('a command leaves no event listener on stdout of its process', async () => {
  const listeners = () =>
    process.stdout.eventNames().map((name) => [name, process.stdout.listenerCount(name)]);
  const before = listeners();
  expect((await svcadmin.run(['whoami'])).code).toBe(0);
  expect(listeners()).toEqual(before);
});

it.skipIf(process.platform !== 'linux').each(['svcadmin error --json', 'svc --help'])(
  '%s says in one sentence that its output cannot be written to a full disk, and exits with 1',
  (line) => {
    const [program = '', ...args] = line.split(' ');
    const full = openSync('/dev/full', 'w');
    const path = fileURLToPath(new URL(`../../../cli/bin/${program}.js`, import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [path, ...args], {
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(status).toBe(1);
    expect(String(stderr)).toMatch(/^The output could not be written: ENOSPC[^\n]*\n$/);
  },
);

it.skipIf(process.platform !== 'linux').each([
  ['> /dev/full', 1, /^Nothing found.\nThe output could not be written: ENOSPC[^\n]*\n$/],
  ['| true', 0, /^Nothing found.\n$/],
] as const)(
  'a command that writes before and after a call of the server, with %s, exits with %i and no stack trace',
  async (redirection, code, expected) => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Shop' });
    const script = `"$0" "$@" ${redirection}; exit \${PIPESTATUS[0]}`;
    const words = [process.execPath, executable, 'wallets', 'statement', id, '--mode', 'test'];
    const { cwd, env } = svcadmin;
    const shell = spawn('/bin/bash', ['-c', script, ...words], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [status]] = await Promise.all([readText(shell.stderr), once(shell, 'exit')]);
    expect([stderr, status]).toEqual([expect.stringMatching(expected), code]);
  },
);
