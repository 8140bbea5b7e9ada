import { describe, expect, it } from 'vitest';
import type { ListWallets } from '../../../contracts/admin/wallets.ts';
import { walletIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import { draftPage, openingPage, type Posting } from '../../../server/billing/ledger/page-builder.ts';
import { createBillingStores } from '../../../server/billing/store.ts';
import { createWalletsStores } from '../../../server/billing/wallets/store.ts';
import { createWalletList } from '../../../server/billing/wallets/wallet-list.ts';
import { createWalletSummaries } from '../../../server/billing/wallets/wallet-summaries.ts';
import { baselineOf, sampledPages, spentPerDay } from '../../../server/billing/wallets/wallet-use.ts';
import { preparedDatabase } from '../../harness/database.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 5, 30, 12);
const ago = (days: number): Date => new Date(now - days * day);

describe("the sample for a wallet's spending rate", () => {
  it('consists of the first ledger page and of those 1, 2, 4, 8, … before the last one', () => {
    expect(sampledPages(0)).toEqual([]);
    expect(sampledPages(1)).toEqual([0]);
    expect(sampledPages(20)).toEqual([19, 18, 16, 12, 4, 0]);
  });

  it('measures from the sampled page that is nearest to seven days ago', () => {
    const sample = (n: number, days: number) => ({ n, at: ago(days), balance: 0 });
    expect(baselineOf([sample(9, 0.01), sample(8, 5), sample(6, 20)], now)?.n).toBe(8);
    expect(baselineOf([sample(9, 0.01), sample(8, 40)], now)?.n).toBe(8);
    expect(baselineOf([], now)).toBeUndefined();
  });

  it('yields the spending per day without fundings and adjustments, as if the time were a day at least', () => {
    const base = { n: 2, at: ago(5), balance: 1_000 };
    const last = { n: 9, at: ago(0), balance: 5_500 };
    const moves = [
      { n: 1, amount: 70_000 },
      { n: 4, amount: 5_000 },
    ];
    expect(spentPerDay(last, base, { moves, now })).toBe(100);
    const young = { ...base, at: ago(0.01) };
    expect(spentPerDay(last, young, { moves, now })).toBe(500);
    expect(spentPerDay(last, { ...base, balance: 0 }, { moves: [], now })).toBe(0);
  });
});

/** A wallet whose ledger has a page for each step: its age in days, and its amount in cents. */
interface Steps {
  name: string;
  steps: readonly (readonly [daysAgo: number, cents: number])[];
}

const charge = (walletId: string, id: string, amount: number): Posting => ({
  ...{ walletId, id, amount, kind: 'token' },
});
const funding = (walletId: string, id: string, amount: number): Posting => ({
  ...{ walletId, id, amount, kind: 'funding', memo: { actor: 'opr_1', reference: id } },
});

/** A charge a day, until today. */
const daily = (days: number, cents: number) =>
  Array.from({ length: days }, (_, n) => [days - (n + 1), -cents] as const);

async function walletsWith(wallets: readonly Steps[], unpaid: readonly string[] = []) {
  const { db } = await preparedDatabase();
  const stores = { ...createBillingStores(db), ...createWalletsStores(db) };
  for (const { name, steps } of wallets) {
    const walletId = walletIdOf(name.split(':')[0] ?? '', name.endsWith(':test') ? 'test' : 'live');
    const opening = openingPage(walletId, ago(60));
    const pages = [opening];
    for (const [n, [daysAgo, amount]] of steps.entries()) {
      const head = { ...(pages.at(-1) ?? opening), asOf: 0 };
      const make = amount > 0 ? funding : charge;
      const at = ago(daysAgo).getTime();
      pages.push(draftPage(head, [make(walletId, `txn_${name}_${n}`, amount)], at).page);
    }
    for (let first = 0; first < pages.length; first += 500)
      expect(await stores.ledger.insert(pages.slice(first, first + 500))).not.toContain('refused');
  }
  const clock = { now: () => now };
  const summaries = createWalletSummaries({ stores, clock });
  await summaries.sweep.sweep();
  const context = {
    ...{ stores, clock },
    unpaidWallets: async () => ({
      wallets: new Map(unpaid.map((id) => [id, { count: 3, lastAt: new Date(now) }])),
      sampledSince: null,
    }),
    partnerNames: async (ids: readonly string[]) => new Map(ids.map((id) => [id, `name of ${id}`])),
  };
  const { list, count } = createWalletList(context, summaries);
  return Object.assign((wanted: Partial<ListWallets> = {}) => list({ limit: 50, ...wanted }), { count });
}

const usual: readonly Steps[] = [
  { name: 'ptr_ending', steps: [[59, 100_000], ...daily(40, 1_800), [0.01, 10_000]] },
  { name: 'ptr_rich', steps: [[59, 1_000_000], ...daily(10, 600)] },
  {
    name: 'ptr_idle',
    steps: [
      [59, 5_000],
      [30, -4_000],
    ],
  },
  {
    name: 'ptr_low',
    steps: [
      [20, 5_000],
      [19, -1_000],
      [2, -3_990],
    ],
  },
  { name: 'ptr_none', steps: [] },
  {
    name: 'ptr_low:test',
    steps: [
      [3, 5_000],
      [2, -4_999],
    ],
  },
];

describe('wallets list', () => {
  it('lists all wallets in the order of their IDs, in pages, with spending per day and days left', async () => {
    const list = await walletsWith(usual);
    const live = await list({ mode: 'live' });
    expect(live.map(({ id }) => id)).toEqual(
      ['ending', 'idle', 'low', 'none', 'rich'].map((name) => `ptr_${name}:live`),
    );
    expect(await list({ mode: 'live', limit: 2, after: 'ptr_idle:live' })).toEqual(live.slice(2, 4));
    expect(await list()).toHaveLength(6);
    await expect(list({ after: 'zzzz' })).rejects.toThrow('No wallet zzzz');
    const [ending, idle, , none] = live;
    // 40 days of 18.00 USD, and a funding of 100.00 within the measured time.
    expect(ending).toMatchObject({ partnerName: 'name of ptr_ending', mode: 'live', balance: 38_000 });
    expect(ending?.spentPerDay).toBeGreaterThan(1_750);
    expect(ending?.spentPerDay).toBeLessThan(1_850);
    expect(ending?.daysLeft).toBeCloseTo(21.1, 0);
    for (const unused of [idle, none]) expect(unused).toMatchObject({ spentPerDay: 0, daysLeft: null });
  });

  it('lists with the filter daysLeft the wallets whose money lasts at most so many days, the soonest first', async () => {
    const list = await walletsWith(usual);
    const soon = await list({ mode: 'live', daysLeft: 30 });
    expect(soon.map(({ partnerId }) => partnerId)).toEqual(['ptr_low', 'ptr_ending']);
    expect(soon[0]?.daysLeft).toBeLessThan(1);
    expect(await list({ mode: 'live', daysLeft: 30, after: 'ptr_low:live' })).toEqual(soon.slice(1));
    expect((await list({ daysLeft: 0.01 })).map(({ id }) => id)).toEqual(['ptr_low:test']);
  });

  it('lists with the filters daysLeft and below also empty wallets that could not pay an exchange', async () => {
    const list = await walletsWith(usual, ['ptr_none:live', 'ptr_rich:live']);
    const [first, ...others] = await list({ mode: 'live', daysLeft: 30 });
    expect(first).toMatchObject({ id: 'ptr_none:live', balance: 0, unpaid: 3, daysLeft: null });
    expect(others.map(({ id }) => id)).toEqual(['ptr_low:live', 'ptr_ending:live']);
    expect((await list({ below: 11 })).map(({ id }) => id)).toEqual([
      ...['ptr_none:live', 'ptr_low:test', 'ptr_low:live'],
    ]);
    expect(await list.count({ below: 11 })).toEqual({ total: 3, exact: true });
    expect(await list({ mode: 'test', below: 1 })).toEqual([]);
    const [rich] = await list({ mode: 'live', after: 'ptr_none:live' });
    expect(rich).toMatchObject({ id: 'ptr_rich:live', unpaid: 3 });
  });

  it('lists with the filter daysLeft first a wallet with less than the price, that has spent nothing and could not pay', async () => {
    const cent: Steps = {
      name: 'ptr_cent',
      steps: [
        [30, 5_000],
        [29, -4_999],
      ],
    };
    const list = await walletsWith([...usual, cent], ['ptr_cent:live', 'ptr_low:live']);
    const ids = (await list({ mode: 'live', daysLeft: 7 })).map(({ id }) => id);
    expect(ids).toEqual(['ptr_cent:live', 'ptr_low:live']);
    expect(await list.count({ mode: 'live', daysLeft: 7 })).toEqual({ total: 2, exact: true });
    expect((await list({ mode: 'live', below: 5 })).map(({ id }) => id)).toEqual(['ptr_cent:live']);
  });

  it('lists with the filter unfunded the wallets that were never funded', async () => {
    const list = await walletsWith([...usual, { name: 'ptr_none:test', steps: [] }]);
    const unfunded = await list({ unfunded: true });
    expect(unfunded.map(({ id }) => id)).toEqual(['ptr_none:live', 'ptr_none:test']);
    expect(await list({ unfunded: true, after: 'ptr_none:live' })).toEqual(unfunded.slice(1));
    expect((await list({ unfunded: true, mode: 'test' })).map(({ id }) => id)).toEqual(['ptr_none:test']);
    expect(await list.count({ unfunded: true })).toEqual({ total: 2, exact: true });
  });

  it('lists with the filter below the used wallets with a lower balance, the lowest first', async () => {
    const list = await walletsWith(usual);
    const low = await list({ below: 2_000 });
    expect(low.map(({ id, balance }) => [id, balance])).toEqual([
      ['ptr_low:test', 1],
      ['ptr_low:live', 10],
      ['ptr_idle:live', 1_000],
    ]);
    expect(await list({ below: 2_000, limit: 1, after: 'ptr_low:live' })).toEqual(low.slice(2));
    expect(await list({ below: 1 })).toEqual([]);
    await expect(list({ below: 2_000, after: 'ptr_rich:live' })).rejects.toThrow('in this list');
  });
});
