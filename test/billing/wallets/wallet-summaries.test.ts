import { expect, it } from 'vitest';
import { walletIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import { draftPage, openingPage, type Posting } from '../../../server/billing/ledger/page-builder.ts';
import { createBillingStores } from '../../../server/billing/store.ts';
import { createWalletsStores } from '../../../server/billing/wallets/store.ts';
import { createWalletSummaries } from '../../../server/billing/wallets/wallet-summaries.ts';
import type { WalletSummary } from '../../../server/billing/wallets/wallet-summary-store.ts';
import { preparedDatabase } from '../../harness/database.ts';

const now = Date.UTC(2026, 5, 30, 12, 0, 30);
const a = walletIdOf('ptr_a', 'live');
const b = walletIdOf('ptr_b', 'live');

/** A ledger whose writes do not notify the summaries. `process` creates the summaries of one process. */
async function ledgerOf(walletIds: readonly string[]) {
  const { db } = await preparedDatabase();
  const stores = { ...createBillingStores(db), ...createWalletsStores(db) };
  const { ledger, use, summaries: store } = stores;
  const heads = new Map(walletIds.map((id) => [id, openingPage(id, new Date(now - 1_000))]));
  await ledger.insert([...heads.values()]);

  async function move(walletId: string, ...postings: Omit<Posting, 'walletId'>[]): Promise<void> {
    const head = heads.get(walletId) ?? openingPage(walletId, new Date(now));
    const { page, refused } = draftPage(
      { ...head, asOf: 0 },
      postings.map((posting) => ({ walletId, ...posting })),
      now,
    );
    expect(refused).toEqual([]);
    expect(await ledger.insert([page])).toEqual(['inserted']);
    heads.set(walletId, page);
  }

  const collection = db.collection<WalletSummary>('walletSummaries');
  return {
    ...{ db, store, use, move, collection },
    process: () => createWalletSummaries({ stores, clock: { now: () => now } }),
    balances: async () => (await collection.find().sort({ _id: 1 }).toArray()).map(({ balance }) => balance),
  };
}

const funding = (id: string, amount: number) => ({ id, amount, kind: 'funding' as const });

it('a sweep creates missing summaries of wallets, and updates the balance after another process added entries', async () => {
  const { process, move, balances } = await ledgerOf([a, b]);
  const { sweep } = process();
  await move(a, funding('txn_1', 500));
  await sweep.sweep();
  expect(await balances()).toEqual([500, 0]);
  await move(b, funding('txn_2', 700));
  await sweep.sweep();
  expect(await balances()).toEqual([500, 700]);
});

it('one sweep creates the summaries of 230 wallets, although it reads them in smaller groups', async () => {
  const ids = Array.from({ length: 230 }, (_, n) => walletIdOf(`ptr_${String(n).padStart(3, '0')}`, 'test'));
  const { process, balances } = await ledgerOf(ids);
  await process().sweep.sweep();
  expect(await balances()).toHaveLength(230);
});

it('a flush of wallet summaries updates only the wallets that are marked as changed', async () => {
  const { process, move, balances } = await ledgerOf([a, b]);
  const summaries = process();
  await summaries.sweep.sweep();
  await move(a, funding('txn_1', 500));
  await move(b, funding('txn_2', 700));
  summaries.touch(a);
  await summaries.flush();
  expect(await balances()).toEqual([500, 0]);
});

it('a wallet summary is not overwritten with an older balance that another process read earlier', async () => {
  const { process, store, use, move, balances } = await ledgerOf([a]);
  const summaries = process();
  await summaries.sweep.sweep();
  const before = await store.pageNumbers([a]);
  const old = await summaries.summarise([a]);
  await move(a, funding('txn_1', 500));
  await summaries.sweep.sweep();
  await store.put(old, before);
  expect(await balances()).toEqual([500]);
  expect(await use.heads([a])).toMatchObject([{ balance: 500 }]);
});

it('a sweep corrects a wallet summary whose page number is too high after a restore of the database', async () => {
  const { process, collection, balances } = await ledgerOf([a]);
  const { sweep } = process();
  await sweep.sweep();
  await collection.updateOne({ _id: a }, { $set: { n: 90, balance: 77_700 } });
  await sweep.sweep();
  expect(await balances()).toEqual([0]);
});

it('a flush writes the wallet summaries that the flush before could not write, because the database was away', async () => {
  const { process, store, move, balances } = await ledgerOf([a]);
  const { put } = store;
  const summaries = process();
  await summaries.sweep.sweep();
  await move(a, funding('txn_1', 500));
  summaries.touch(a);
  store.put = async () => {
    throw new Error('the database is away');
  };
  await expect(summaries.flush()).rejects.toThrow('away');
  store.put = put;
  await summaries.flush();
  expect(await balances()).toEqual([500]);
});

it('a flush writes a wallet summary once, even if the wallet is marked as changed again during the flush', async () => {
  const { process, store } = await ledgerOf([a]);
  const { put } = store;
  const summaries = process();
  let flushes = 0;
  store.put = async (...args) => {
    flushes += 1;
    // Without this bound, the test would not end.
    if (flushes < 5) summaries.touch(a);
    return put(...args);
  };
  summaries.touch(a);
  await summaries.flush();
  expect(flushes).toBe(1);
  await summaries.flush();
  expect(flushes).toBe(2);
});

it('a wallet summary names a spend cap that is reached, and the end of its window', async () => {
  const { process, move, collection } = await ledgerOf([a, b]);
  const charge = (id: string) => ({ id, amount: 0, kind: 'token' as const });
  const caps = (perMinute: number, perHour: number) => ({
    ...{ id: 'txn_caps', amount: 0, kind: 'caps' as const },
    caps: { perMinute, perHour },
    memo: { caps: { perMinute, perHour } },
  });
  await move(a, caps(2, 100));
  await move(b, caps(2, 2));
  for (const wallet of [a, b]) await move(wallet, charge('txn_1'), charge('txn_2'));
  await process().sweep.sweep();
  const capped = (await collection.find().sort({ _id: 1 }).toArray()).map((summary) => summary.capped);
  expect(capped).toEqual([
    { bucket: 'minute', limit: 2, until: new Date(Date.UTC(2026, 5, 30, 12, 1)) },
    { bucket: 'hour', limit: 2, until: new Date(Date.UTC(2026, 5, 30, 13)) },
  ]);
});
