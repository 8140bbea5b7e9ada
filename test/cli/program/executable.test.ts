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

/** The arguments, the exit code, and the differing environment or input. */
const calls: [args: string, code: number, options?: { input?: string; env?: Record<string, string> }][] = [
  ['partners create --help', 0],
  ['whoami --json', 0],
  ['partners list', 0],
  ['login --token-stdin', 0, { input: adminToken }],
  ['doctor --json', 1, { env: { SVCADMIN_TOKEN: 'wrong' } }],
  ['partners conjure', 2],
  ['whoami --json', 3, { env: { SVCADMIN_TOKEN: 'wrong' } }],
  ['partners show ptr_0000000000000000000000', 4],
  ['whoami', 7, { env: { SVCADMIN_URL: 'http://127.0.0.1:1' } }],
];

/** Most tests run commands in this process, so a real process must end the same way. */
it.each(calls)(
  'the executable svcadmin %s exits with %i, with the output of the same command in this process',
  async (words, code, options = {}) => {
    const args = words.split(' ');
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
