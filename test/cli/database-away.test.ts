import { afterAll, beforeAll, expect, it } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { startTcpProxy } from '../platform/tcp-proxy.ts';
import { type CommandLine, commandLine } from './svcadmin.ts';

interface Found {
  check: string;
  ok: boolean;
  found: string;
  fix: string | null;
}

let database: Awaited<ReturnType<typeof freshDatabase>>;
let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  const url = new URL(database.uri);
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  url.searchParams.set('directConnection', 'true');
  server = await startTestServer({ env: { MONGODB_URI: url.href } });
  const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'ops' });
  svcadmin = await commandLine(server.adminUrl, token);
});
afterAll(async () => {
  await proxy.restore();
  await server.stop();
  await proxy.stop();
  await database.drop();
});

it('status and doctor say why the database is away, and since when, to an operator who was there before', async () => {
  const well = await svcadmin.json<Found[]>('doctor');
  expect(well.find(({ check }) => check === 'database')).toMatchObject({ ok: true, found: 'up', fix: null });
  expect((await svcadmin.run(['status'])).stdout).not.toContain('Away');

  await proxy.cut();
  const isDown = async () => (await server.admin.status.query()).database;
  await expect.poll(isDown, { timeout: within(25_000) }).toBe('down');

  const plain = await svcadmin.run(['status']);
  expect(plain.code).toBe(0);
  expect(plain.stdout).toMatch(/Database +down/);
  expect(plain.stdout).toMatch(/Away +reason 127\.0\.0\.1:\d+: .+, since \d{4}-/);
  expect(plain.stdout).toContain(String(process.pid));
  expect(plain.stderr).toContain('The database is away: queue and processes are of');
  const json = await svcadmin.json<{ away: object; processes: null }>('status');
  expect(json).toMatchObject({
    database: 'down',
    processes: null,
    queue: null,
    away: { last: { queue: {} } },
  });

  const ill = await svcadmin.run(['doctor', '--json']);
  expect(ill.code).toBe(1);
  const findings: Found[] = JSON.parse(ill.stdout);
  expect(findings.map(({ check }) => check)).toEqual(well.map(({ check }) => check));
  const faults = findings.filter(({ ok }) => !ok);
  expect(faults).toMatchObject([
    {
      check: 'database',
      found: expect.stringMatching(/^down since \d{4}-.*: 127\.0\.0\.1:\d+: ./),
      fix: 'start it, or check MONGODB_URI of the server',
    },
  ]);
});
