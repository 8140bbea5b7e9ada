import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { reversalIdOf } from '../../server/billing/ledger.ts';
import {
  applyBatch,
  type Posting,
  ringSize,
  verdictOf,
  type WalletState,
} from '../../server/billing/wallet-model.ts';
import { idsInRing } from '../../server/billing/wallet-pipeline.ts';
import { createWalletStore, type WalletStore } from '../../server/billing/wallet-store.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';

/** One may be the end of another: a charge's, and its reversal's. */
const anId = fc
  .record({ n: fc.integer({ min: 0, max: 20 }), reversal: fc.boolean() })
  .map(({ n, reversal }) => (reversal ? `rev_txn_${n}` : `txn_${n}`));

const start = Date.parse('2026-11-21T10:58:30Z');

/** Few ids and small amounts, so that repeats, full windows and empty wallets are common. */
const posting: fc.Arbitrary<Posting> = fc
  .record({
    id: anId,
    kind: fc.constantFrom('token', 'storefront', 'funding', 'reversal'),
    cents: fc.integer({ min: 0, max: 90 }),
    basis: fc.constantFrom(0, -ringSize, -ringSize - 1, 3),
    seconds: fc.integer({ min: -90, max: 4_000 }),
    reference: fc.option(fc.constantFrom('$balance', 'invoice 7', '$$ROOT'), { nil: undefined }),
  })
  .map(({ id, kind, cents, basis, seconds, reference }) => {
    const charge = kind === 'token' || kind === 'storefront';
    const at = new Date(start + seconds * 1000);
    const amount = charge && cents > 0 ? -cents : cents;
    const deadline = new Date(at.getTime() + 10_000);
    return {
      id,
      kind,
      amount,
      counted: charge,
      basis,
      at,
      deadline,
      memo: reference ? { reference } : null,
    } as Posting;
  });

const batch = fc.record({
  settled: fc.uniqueArray(anId, { maxLength: 8 }),
  postings: fc.uniqueArray(posting, { maxLength: 6, selector: ({ id }) => id }),
});

const sequence = fc.record({
  balance: fc.integer({ min: 0, max: 400 }),
  perMinute: fc.integer({ min: 0, max: 6 }),
  perHour: fc.integer({ min: 0, max: 12 }),
  batches: fc.array(batch, { minLength: 1, maxLength: 6 }),
});

describe('the wallet update', () => {
  let database: FreshDatabase;
  let store: WalletStore;
  let wallets: ReturnType<FreshDatabase['db']['collection']>;

  beforeAll(async () => {
    database = await freshDatabase({ keep: true });
    // Thousands of updates that nobody needs after a crash: not worth a wait for the journal.
    const db = database.client.db(database.name, { writeConcern: { w: 1, journal: false } });
    store = createWalletStore(db);
    wallets = db.collection('wallets');
    return () => database.drop();
  });

  /** The document byte for byte, and what it says. */
  async function read(id: string): Promise<{ bytes: string; state: WalletState }> {
    const raw = (await wallets.findOne({ _id: id as never }, { raw: true })) as never as Uint8Array;
    const { _id, currency, audit, ...wallet } = BSON.deserialize(raw);
    const { holds, recentlySettled: ring } = wallet;
    const ids = { holdCount: holds.length, recentlySettled: idsInRing(ring) };
    const state = { ...(wallet as WalletState), ...ids };
    return { bytes: Buffer.from(raw).toString('base64'), state };
  }

  it('does inside the database what the model says, verdict by verdict and field by field', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sequence, async ({ balance, perMinute, perHour, batches }) => {
        run += 1;
        const id = `ptr_${run}:test`;
        await store.open(id);
        const caps = { perMinute, perHour };
        await wallets.updateOne({ _id: id as never }, [{ $set: { caps, balance: { $toLong: balance } } }]);

        let { bytes, state: model } = await read(id);
        for (const { settled, postings } of batches) {
          const view = (await store.apply([{ walletId: id, settled, postings }])).get(id) as WalletState;
          const next = applyBatch(model, settled, postings);
          const stored = await read(id);

          if (!isDeepStrictEqual(stored.state, next)) expect(stored.state).toEqual(next);
          for (const each of postings) expect(verdictOf(view, each)).toEqual(verdictOf(next, each));
          const unchanged = next.seq === model.seq && next.settled === model.settled;
          if (unchanged) expect(stored.bytes).toBe(bytes);
          bytes = stored.bytes;
          model = next;
        }
      }),
      { numRuns: 2_000 },
    );
  }, 180_000);

  const funding = (id: string, amount: number): Posting => ({
    id,
    kind: 'funding',
    amount,
    counted: false,
    basis: 0,
    at: new Date(start),
    deadline: new Date(start),
    memo: null,
  });

  it('forgets the oldest of more than 256 settled ids, however long they are', async () => {
    const id = 'ptr_ring:test';
    await store.open(id);
    let { state: model } = await read(id);
    let settled: string[] = [];
    for (let n = 0; n < 420; n += 60) {
      const ids = Array.from({ length: 60 }, (_, k) =>
        reversalIdOf(`txn_${n + k}`.padEnd(26 - (k % 9), 'x')),
      );
      const postings = ids.map((each) => ({ ...funding(each, 1), basis: model.settled }));
      await store.apply([{ walletId: id, settled, postings }]);
      model = applyBatch(model, settled, postings);
      expect((await read(id)).state).toEqual(model);
      settled = ids;
    }
    expect([model.settled, model.recentlySettled.length]).toEqual([360, 256]);
    const [oldest, newest] = [model.recentlySettled[0] ?? '', model.recentlySettled.at(-1) ?? ''];
    const again = [oldest, newest].map((each) => ({ ...funding(each, 1), basis: model.settled }));
    const view = (await store.apply([{ walletId: id, settled: [], postings: again }])).get(id) as WalletState;
    expect(again.map((each) => verdictOf(view, each).outcome)).toEqual(['settled', 'settled']);
  });

  it('takes no id that has no room in the ring', async () => {
    const postings = [funding(`txn_${'x'.repeat(27)}`, 1)];
    await expect(store.apply([{ walletId: 'ptr_a:test', settled: [], postings }])).rejects.toThrow('longer');
  });

  it('moves several wallets in one update, each by its own batch', async () => {
    const ids = ['ptr_a:test', 'ptr_b:live', 'ptr_c:test'];
    for (const id of ids) await store.open(id);
    const states = await store.apply(
      ids.map((walletId, n) => ({ walletId, settled: [], postings: [funding(`txn_${n}`, 100 * (n + 1))] })),
    );
    expect(ids.map((id) => states.get(id)?.balance)).toEqual([100, 200, 300]);
    expect(ids.map((id) => states.get(id)?.holds.length)).toEqual([1, 1, 1]);

    const later = await store.apply(
      ids.map((walletId, n) => ({
        walletId,
        settled: [`txn_${n}`],
        postings: [funding(`txn_${n}`, 100), funding(`rev_txn_${n}`, 7)],
      })),
    );
    const outcomes = ids.map((id, n) =>
      [`txn_${n}`, `rev_txn_${n}`].map(
        (each) => verdictOf(later.get(id) as WalletState, funding(each, 7)).outcome,
      ),
    );
    expect(outcomes).toEqual(ids.map(() => ['settled', 'held']));
    expect(ids.map((id) => later.get(id)?.balance)).toEqual([107, 207, 307]);
  });

  it('keeps int64 in every field that adds up', async () => {
    const id = 'ptr_types:test';
    await store.open(id);
    await store.apply([{ walletId: id, settled: [], postings: [funding('txn_1', 5_000)] }]);
    const [types] = await wallets
      .aggregate([
        { $match: { _id: id } },
        {
          $project: {
            _id: 0,
            types: [
              '$balance',
              '$seq',
              '$settled',
              { $first: '$holds.amount' },
              { $first: '$holds.balanceAfter' },
            ].map((value) => ({ $type: value })),
          },
        },
      ])
      .toArray();
    expect(types?.['types']).toEqual(['long', 'long', 'long', 'long', 'long']);
  });
});
