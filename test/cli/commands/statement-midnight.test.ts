import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StatementView } from '../../../contracts/admin/wallets.ts';
import { adminToken, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine } from '../svcadmin.ts';

/** The beginning of the first of June in Berlin. In UTC it is still the last of May. */
const midnight = Date.parse('2026-06-01T00:00:00+02:00');
const clock = manualClock(midnight - 86_400_000);
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

it('svcadmin wallets statement reads dates in UTC, or in the zone of --timezone, and prints the zone; entries at --from are included, those at --to are not', async () => {
  const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
  const fund = (at: number, amount: number) => {
    clock.set(at);
    const wallet = { partnerId, mode: 'test' as const };
    return server.admin.wallets.fund.mutate({ ...wallet, amount, reference: `at ${at}` });
  };
  await fund(midnight - 2, 5_000);
  await fund(midnight - 1, 6_000);
  await fund(midnight, 7_000);
  await fund(midnight + 1, 8_000);
  const svcadmin = await commandLine(server.adminUrl, adminToken);
  const statement = async (from: string, to: string) => {
    const range = ['--from', from, '--to', to, '--timezone', 'Europe/Berlin'];
    const read = await svcadmin.json<StatementView>('wallets', 'statement', partnerId, ...range);
    return [read.opening, read.entries.map(({ amount }) => amount), read.closing];
  };
  expect(await statement('2026-05-01', '2026-06-01')).toEqual([0, [5_000, 6_000], 11_000]);
  expect(await statement('2026-06-01', '2026-07-01')).toEqual([11_000, [7_000, 8_000], 26_000]);
  // A time with a zone is used to the millisecond.
  const tick = new Date(midnight + 1).toISOString();
  expect(await statement('2026-06-01', tick)).toEqual([11_000, [7_000], 18_000]);
  expect(await statement(tick, '2026-07-01')).toEqual([18_000, [8_000], 26_000]);
  const read = (...period: string[]) =>
    svcadmin.json<StatementView & { from: string; to: string; timezone: string }>(
      ...['wallets', 'statement', partnerId, ...period],
    );
  const may = await read('--month', '2026-05');
  expect(may).toMatchObject({
    from: '2026-05-01T00:00:00.000Z',
    to: '2026-06-01T00:00:00.000Z',
    timezone: 'UTC',
  });
  expect(may.entries).toHaveLength(4);
  expect(await read('--from', '2026-05-01', '--to', '2026-06-01')).toEqual(may);
  const june = await read('--month', '2026-06', '--timezone', 'Europe/Berlin');
  expect(june).toMatchObject({ from: new Date(midnight).toISOString(), timezone: 'Europe/Berlin' });
  expect(june.entries).toHaveLength(2);
  const shown = await svcadmin.run(
    ...[['wallets', 'statement', partnerId, '--month', '2026-06', '--timezone', 'Europe/Berlin']],
  );
  expect(shown.stdout).toContain('Period   2026-06-01 00:00:00 to 2026-07-01 00:00:00 (Europe/Berlin)');
  expect(shown.stdout).toContain('2026-06-01 00:00:00');
  expect(await svcadmin.json('wallets', 'statement', partnerId, '--by', 'amount')).toContainEqual({
    ...{ amount: 5_000, count: 1, sum: 5_000 },
  });
  for (const period of [
    ['--month', '2026-13'],
    ['--month', 'may'],
    ['--from', '2026-11-31'],
    ['--timezone', 'Mars/Sea'],
  ])
    expect(await svcadmin.run(['wallets', 'statement', partnerId, ...period])).toMatchObject({ code: 2 });
});
