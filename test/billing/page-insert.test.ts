import { MongoNetworkError } from 'mongodb';
import { expect, it } from 'vitest';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore, type LedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { draftPage, openingPage } from '../../server/billing/ledger/page-builder.ts';
import { createPageInsert } from '../../server/billing/ledger/page-insert.ts';
import { newWallet } from '../../server/billing/ledger/wallet-rules.ts';
import { preparedDatabase } from '../harness/database.ts';

const walletId = 'ptr_1:test';
const at = Date.now();
const opening = openingPage(walletId, new Date(at));
const head = { ...opening, state: newWallet, asOf: 0 };
const funding = (id: string) => ({
  page: draftPage(
    head,
    [{ walletId, id, kind: 'funding' as const, amount: 500, memo: { reference: id } }],
    at,
  ).page,
  head,
});

type Insert = LedgerStore['insert'];

/** Inserts pages through a network that `deliver` decides on. Pages are sent again twice, in a time that `pause` counts. */
async function overNetwork(
  deliver: (insert: Insert, pages: LedgerPage[], call: number) => ReturnType<Insert>,
) {
  const { db } = await preparedDatabase();
  const store = createLedgerStore(db);
  await store.insert([opening]);
  let [time, calls, forgotten] = [0, 0, 0];
  const insertPages = createPageInsert({
    store: {
      page: store.page,
      insert(pages) {
        calls += 1;
        return deliver(store.insert, [...pages], calls);
      },
    },
    forgetHeads() {
      forgotten += 1;
    },
    uptime: () => time,
    async pause(ms) {
      time += ms;
    },
    resendWithin: 20,
  });
  return { store, insertPages, calls: () => calls, forgotten: () => forgotten };
}

const lostReply = () => {
  throw new MongoNetworkError('connection reset');
};

it('a page whose reply is lost is sent again, and found to be inserted', async () => {
  const { store, insertPages, calls, forgotten } = await overNetwork(async (insert, pages, call) => {
    const results = await insert(pages);
    return call === 1 ? lostReply() : results;
  });
  const draft = funding('txn_1');
  expect(await insertPages([draft])).toEqual(['inserted']);
  expect((await store.page(walletId, draft.page.n))?.attempt).toBe(draft.page.attempt);
  expect([calls(), forgotten()]).toEqual([2, 1]);
});

it('a page that the database never got is sent again, and inserted then', async () => {
  const { insertPages } = await overNetwork(async (insert, pages, call) =>
    call === 1 ? lostReply() : insert(pages),
  );
  expect(await insertPages([funding('txn_1')])).toEqual(['inserted']);
});

it('a fence takes the number of a page whose result stays unknown, so that a late copy of the page is refused', async () => {
  const draft = funding('txn_1');
  const { store, insertPages } = await overNetwork(async (insert, pages) =>
    pages.some(({ attempt }) => attempt === draft.page.attempt) ? lostReply() : insert(pages),
  );
  expect(await insertPages([draft])).toEqual(['fenced']);
  expect((await store.page(walletId, draft.page.n))?.entries).toMatchObject([{ kind: 'fence' }]);
  expect(await store.insert([draft.page])).toEqual(['page exists']);
});

it('a page that was inserted, but whose replies are all lost, is found because its number refuses the fence', async () => {
  const draft = funding('txn_1');
  const { insertPages } = await overNetwork(async (insert, pages) => {
    const results = await insert(pages);
    return pages.some(({ attempt }) => attempt === draft.page.attempt) ? lostReply() : results;
  });
  expect(await insertPages([draft])).toEqual(['inserted']);
});

it('a page whose number another process has taken is not inserted, and is told so', async () => {
  const { store, insertPages } = await overNetwork(async (insert, pages, call) =>
    call === 1 ? lostReply() : insert(pages),
  );
  const [other, draft] = [funding('txn_2'), funding('txn_1')];
  await store.insert([other.page]);
  expect(await insertPages([draft])).toEqual(['page exists']);
});

it('a page that the database refuses for good is not sent again, and its error is returned', async () => {
  const refusal = new Error('Document failed validation');
  const { insertPages, calls } = await overNetwork(async (insert, pages, call) =>
    // The reply to the first call is lost, so the result of the second one is examined.
    call === 1 ? lostReply() : call === 2 ? [refusal] : insert(pages),
  );
  expect(await insertPages([funding('txn_1')])).toEqual([refusal]);
  expect(calls()).toBe(2);
});

it('the error is returned if the database can never be reached', async () => {
  const { insertPages, calls } = await overNetwork(async () => lostReply());
  expect(await insertPages([funding('txn_1')])).toEqual([expect.any(MongoNetworkError)]);
  // Once, twice again as a page, and once as a fence.
  expect(calls()).toBeGreaterThanOrEqual(3);
});
