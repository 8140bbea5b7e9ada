import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerStore, type LedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { findFirstPage } from '../../../server/billing/wallets/statement.ts';
import { createPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';

const clock = manualClock(Date.UTC(2026, 6, 1, 10));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

type Entry = [kind: 'token' | 'checkbox' | 'funding' | 'adjustment', amount: number];

/** Adds a page with these entries at the time `at`. */
async function addPage(walletId: string, at: string, entries: readonly Entry[]): Promise<void> {
  const store = createLedgerStore(server.db);
  const last = (await store.head(walletId)) ?? expect.fail('no wallet');
  const postings = entries.map(([kind, amount], n) => ({ walletId, id: `${at} ${n}`, kind, amount }));
  const { page, refused } = draftPage({ ...last, asOf: 0 }, postings, Date.parse(at));
  expect(refused).toEqual([]);
  expect(await store.insert([page])).toEqual(['inserted']);
}

describe('wallets usage', () => {
  it('counts the charges that cost money by day in UTC, with days without charges, and no other entries', async () => {
    const { partnerId } = await createPartner(server, { funds: 100_000 });
    const walletId = `${partnerId}:test`;
    await addPage(walletId, '2026-07-02T23:59:59.999Z', [['token', -50]]);
    const free: Entry = ['token', 0];
    await addPage(walletId, '2026-07-03T00:00:00.000Z', [['token', -50], free, ['checkbox', -25]]);
    await addPage(walletId, '2026-07-03T23:59:59.999Z', [
      ['adjustment', -5_000],
      ['token', -50],
      ['funding', 10_000],
    ]);
    await addPage(walletId, '2026-07-05T00:00:00.000Z', [['funding', 100]]);
    clock.advance(Date.parse('2026-07-05T12:00:00Z') - clock.now());
    expect(await server.admin.wallets.usage.query({ partnerId, days: 3 })).toEqual({
      partnerId,
      mode: 'test',
      currency: 'USD',
      days: [
        { day: '2026-07-03', charges: 3, cents: 125 },
        { day: '2026-07-04', charges: 0, cents: 0 },
        { day: '2026-07-05', charges: 0, cents: 0 },
      ],
    });
  });

  it('begins with the first day that is on the last 1,000 pages as a whole', async () => {
    const { partnerId } = await createPartner(server, { funds: 0 });
    const walletId = `${partnerId}:test`;
    const { _id, ...page } =
      (await server.db.collection('ledger').findOne({ walletId })) ?? expect.fail('no page');
    const charge = { kind: 'token', amount: -1, balanceAfter: 0 };
    const pages = Array.from({ length: 1_100 }, (_, k) => {
      const n = Number(page['n']) + k + 1;
      // 450 pages a day: only 100 pages of the oldest day are within the limit.
      const at = new Date(Date.parse('2026-07-05T12:00:00Z') - Math.floor((1_099 - k) / 450) * 86_400_000);
      return {
        ...page,
        _id: `${walletId}/${String(n).padStart(10, '0')}`,
        n,
        at,
        entries: [{ ...charge, id: `e${n}` }],
      };
    });
    await server.db.collection('ledger').insertMany(pages as never[]);
    const { days } = await server.admin.wallets.usage.query({ partnerId, days: 30 });
    expect(days).toEqual([
      { day: '2026-07-04', charges: 450, cents: 450 },
      { day: '2026-07-05', charges: 450, cents: 450 },
    ]);
  });
});

describe('the search of the first page', () => {
  it('finds the first page for which the condition holds, in few rounds, in ledgers of all lengths', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5_000), fc.nat(5_002), async (n, first) => {
        let rounds = 0;
        const store = {
          summaries: async (_wallet: string, numbers: readonly number[]) => {
            rounds += 1;
            return numbers.filter((each) => each <= n).map((each) => ({ n: each }));
          },
        } as unknown as Pick<LedgerStore, 'summaries'>;
        const wallet = { walletId: 'ptr_1:test', n } as Parameters<typeof findFirstPage>[0];
        expect(await findFirstPage(wallet, store, (page) => page.n >= first)).toBe(Math.min(first, n + 1));
        expect(rounds).toBeLessThanOrEqual(4);
      }),
    );
  });
});
