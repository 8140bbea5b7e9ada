import { afterAll, beforeAll, expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { type BehindProxy, startBehindProxy } from '../../platform/behind-proxy.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

interface Found {
  check: string;
  ok: boolean;
  found: string;
  fix: string | null;
}

let environment: BehindProxy;
let svcadmin: CommandLine;
beforeAll(async () => {
  environment = await startBehindProxy();
  const { token } = await environment.server.admin.operators.create.mutate({ name: 'Kim', role: 'ops' });
  svcadmin = await commandLine(environment.server.adminUrl, token);
});
afterAll(() => environment.stop());

it('svcadmin status and doctor print the reason and the start of a database outage for an operator who signed in before', async () => {
  const well = await svcadmin.json<Found[]>('doctor');
  expect(well.find(({ check }) => check === 'database')).toMatchObject({ ok: true, found: 'up', fix: null });
  expect((await svcadmin.run(['status'])).stdout).not.toContain('Away');

  await environment.proxy.cut();
  const isDown = async () => (await environment.server.admin.status.query()).database;
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
