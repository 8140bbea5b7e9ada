import { Collection } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { draftPage, openingPage } from '../../server/billing/ledger/page-builder.ts';
import { newWallet } from '../../server/billing/ledger/wallet-rules.ts';
import { preparedDatabase } from '../harness/database.ts';
import { addFullPages } from './wallets/long-wallet.ts';

const at = new Date();
const later = new Date(at.getTime() + 1);

it('markPublished removes the mark `unpublished` from the given pages and from no others', async () => {
  const { db } = await preparedDatabase();
  const store = createLedgerStore(db);
  const marked = (walletId: string): LedgerPage => ({ ...openingPage(walletId, at), unpublished: true });
  const [one, two, three] = [marked('ptr_1:test'), marked('ptr_1:live'), marked('ptr_2:test')];
  await store.insert([one, two, three]);
  const left = async () => (await store.unpublished(later, 10)).map(({ _id }) => _id).sort();

  await store.markPublished([]);
  expect(await left()).toHaveLength(3);
  await store.markPublished([one]);
  expect(await left()).toEqual([two._id, three._id]);
  await store.markPublished([one, two]);
  expect(await left()).toEqual([three._id]);
});

it('other work goes on between the full pages that two readers read', async () => {
  const { db } = await preparedDatabase();
  const store = createLedgerStore(db);
  await store.insert([openingPage('ptr_1:test', at)]);
  await addFullPages(db, 'ptr_1:test', { pages: 6, at: at.getTime() });
  let turns = 0;
  let isDone = false;
  const countTurn = () => {
    turns += 1;
    if (!isDone) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const seen: number[] = [];
  const read = async () => {
    for await (const { entries } of store.pages('ptr_1:test', { from: 1, to: 6 }))
      seen.push(turns * entries.length);
  };
  await Promise.all([read(), read()]);
  isDone = true;
  expect(seen).toHaveLength(12);
  expect(new Set(seen).size).toBeGreaterThan(8);
});

it('findDurableEntry waits for the journal with an update, if reads of this database can be undone by a crash', async () => {
  const { db } = await preparedDatabase();
  const [walletId, id] = ['ptr_1:test', 'txn_1'];
  const opening = openingPage(walletId, at);
  const funding = { walletId, id, kind: 'funding' as const, amount: 500, memo: { reference: 'r' } };
  const { page } = draftPage({ ...opening, state: newWallet, asOf: 0 }, [funding], at.getTime());
  const store = createLedgerStore(db);
  await store.insert([opening]);
  await store.insert([page]);
  const updates = vi.spyOn(Collection.prototype, 'findOneAndUpdate');
  onTestFinished(() => updates.mockRestore());
  expect(await store.findDurableEntry({ walletId, id })).toMatchObject({ id, amount: 500 });
  expect(updates).toHaveBeenCalledTimes(1);
  expect(await store.findDurableEntry({ walletId, id: 'txn_2' })).toBeUndefined();
  expect(updates).toHaveBeenCalledTimes(1);
});
