import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StatementView } from '../../../contracts/admin/wallets.ts';
import { adminToken, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine } from '../svcadmin.ts';

/** The beginning of the first of June in Berlin, which is the operator's time zone. */
const midnight = Date.parse('2026-06-01T00:00:00+02:00');
const clock = manualClock(midnight - 86_400_000);
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

it('svcadmin wallets statement --from --to begins and ends at local midnight: entries at --from are included, those at --to are not', async () => {
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
    const range = ['--from', from, '--to', to];
    const read = await svcadmin.json<StatementView>('wallets', 'statement', partnerId, ...range);
    return [read.opening, read.entries.map(({ amount }) => amount), read.closing];
  };
  expect(await statement('2026-05-01', '2026-06-01')).toEqual([0, [5_000, 6_000], 11_000]);
  expect(await statement('2026-06-01', '2026-07-01')).toEqual([11_000, [7_000, 8_000], 26_000]);
  // A time with a zone is used to the millisecond.
  const tick = new Date(midnight + 1).toISOString();
  expect(await statement('2026-06-01', tick)).toEqual([11_000, [7_000], 18_000]);
  expect(await statement(tick, '2026-07-01')).toEqual([18_000, [8_000], 26_000]);
});
