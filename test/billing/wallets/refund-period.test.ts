import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { randomId } from '../../../server/platform/ids.ts';
import { type CommandLine, commandLine } from '../../cli/svcadmin.ts';
import { createPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';

const clock = manualClock(Date.UTC(2026, 6, 1));
let server: TestServer;
let svcadmin: CommandLine;
let partnerId: string;
beforeAll(async () => {
  server = await startTestServer({ clock });
  svcadmin = await commandLine(server.adminUrl);
  ({ partnerId } = await createPartner(server, {
    ...{ mode: 'live', funds: 100_000, client: { redirectUris: ['https://shop.example/'] } },
  }));
  for (const minute of [10, 20, 30, 40]) await charge(`2026-07-02T12:${minute}:00Z`);
  clock.advance(Date.parse('2026-07-03T00:00:00Z') - clock.now());
});
afterAll(() => server.stop());

async function charge(at: string): Promise<void> {
  const walletId = `${partnerId}:live`;
  const store = createLedgerStore(server.db);
  const last = (await store.head(walletId)) ?? expect.fail('no wallet');
  const entry = { walletId, id: randomId('entry'), kind: 'token', amount: -50 } as const;
  const { page } = draftPage({ ...last, asOf: 0 }, [entry], Date.parse(at));
  expect(await store.insert([page])).toEqual(['inserted']);
}

const balance = async () => (await server.admin.wallets.show.query({ partnerId, mode: 'live' })).balance;
const refund = (...more: string[]) =>
  svcadmin.run([
    'wallets',
    'refund',
    '--partner',
    partnerId,
    '--mode',
    'live',
    '--reason',
    'outage',
    ...more,
  ]);
const outage = ['--from', '2026-07-02T12:20', '--to', '2026-07-02T12:40'];

describe('svcadmin wallets refund with a filter', () => {
  it('counts the charges in a dry run, asks, refunds each once, and continues after an interruption', async () => {
    const before = await balance();
    const dry = await refund(...outage, '--dry-run');
    expect(dry.stdout).toContain(`2 charges of the live wallet of ${partnerId} are refunded: 1.00 USD.`);
    expect((await refund(...outage)).code).toBe(2);
    expect(await balance()).toBe(before);
    const real = await refund(...outage, '--yes', '--json');
    expect(JSON.parse(real.stdout)).toEqual({
      ...{ id: partnerId, mode: 'live', refunded: 2, amount: 100, refundedBefore: 0 },
    });
    expect(await balance()).toBe(before + 100);
    const more = await refund('--from', '2026-07-02', '--yes', '--json');
    expect(JSON.parse(more.stdout)).toMatchObject({ refunded: 2, refundedBefore: 2 });
    expect(await balance()).toBe(before + 200);
    const none = await refund('--from', '2026-07-02', '--dry-run');
    const nothing = `Nothing moves: no charge matches, only --partner ${partnerId} --mode live --from 2026-07-02. 4 were refunded before.`;
    expect(none.stdout).toContain(nothing);
    // Nothing is asked where nothing would move.
    const again = await refund('--from', '2026-07-02');
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(nothing) });
    const unknown = await refund('--from', '2026-07-02', '--client', `cli_${'0'.repeat(22)}`);
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('No client cli_') });
    const refunds = await server.admin.auditLog.list.query({ action: 'wallets.refund', target: partnerId });
    expect(refunds.filter(({ outcome }) => outcome === 'changed')).toHaveLength(4);
  });

  it('needs a partner, a mode and a beginning, and no charge beside them (exit 2)', async () => {
    const base = ['wallets', 'refund', '--reason', 'r'];
    for (const given of [
      [],
      ['--partner', partnerId],
      ['--partner', partnerId, '--mode', 'live'],
      ['txn_1', '--partner', partnerId, '--mode', 'live', '--from', '1d'],
    ])
      expect((await svcadmin.run([...base, ...given])).code).toBe(2);
  });
});
