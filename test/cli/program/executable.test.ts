import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

/** Most tests run commands in this process, so a real process must end the same way. */
it.each([
  { args: ['partners', 'create', '--help'], code: 0 },
  { args: ['whoami', '--json'], code: 0 },
  { args: ['partners', 'list'], code: 0 },
  { args: ['login', '--token-stdin'], input: adminToken, code: 0 },
  { args: ['doctor', '--json'], env: { SVCADMIN_TOKEN: 'wrong' }, code: 1 },
  { args: ['partners', 'conjure'], code: 2 },
  { args: ['whoami', '--json'], env: { SVCADMIN_TOKEN: 'wrong' }, code: 3 },
  { args: ['partners', 'show', 'ptr_0000000000000000000000'], code: 4 },
  { args: ['whoami'], env: { SVCADMIN_URL: 'http://127.0.0.1:1' }, code: 7 },
])(
  'the executable exits with $code for $args, as a command within this process does',
  async ({ args, code, ...options }) => {
    const started = await svcadmin.start(args, options);
    expect(started.code).toBe(code);
    expect(await svcadmin.run(args, options)).toEqual(started);
  },
);

it('a command leaves no event listener on stdout of its process', async () => {
  const listeners = () =>
    process.stdout.eventNames().map((name) => [name, process.stdout.listenerCount(name)]);
  const before = listeners();
  expect((await svcadmin.run(['whoami'])).code).toBe(0);
  expect(listeners()).toEqual(before);
});
