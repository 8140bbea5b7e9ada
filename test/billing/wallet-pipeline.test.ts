import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  applyBatch,
  type Posting,
  ringSize,
  verdictOf,
  type WalletState,
} from '../../server/billing/wallet-model.ts';
import { createWalletStore, type WalletStore } from '../../server/billing/wallet-store.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';

const start = Date.parse('2026-11-21T10:58:30Z');

/** Few ids and small amounts, so that repeats, full windows and empty wallets are common. */
const posting: fc.Arbitrary<Posting> = fc
  .record({
    id: fc.integer({ min: 0, max: 40 }).map((n) => `txn_${n}`),
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
  settled: fc.uniqueArray(
    fc.integer({ min: 0, max: 40 }).map((n) => `txn_${n}`),
    { maxLength: 8 },
  ),
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
    const state = { ...wallet, holdCount: wallet['holds'].length } as WalletState;
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

  it('moves several wallets in one update, each by its own batch', async () => {
    const ids = ['ptr_a:test', 'ptr_b:live', 'ptr_c:test'];
    for (const id of ids) await store.open(id);
    const at = new Date(start);
    const funding = (id: string, amount: number): Posting => ({
      id,
      kind: 'funding',
      amount,
      counted: false,
      basis: 0,
      at,
      deadline: at,
      memo: null,
    });
    const states = await store.apply(
      ids.map((walletId, n) => ({ walletId, settled: [], postings: [funding(`txn_${n}`, 100 * (n + 1))] })),
    );
    expect(ids.map((id) => states.get(id)?.balance)).toEqual([100, 200, 300]);
    expect(ids.map((id) => states.get(id)?.holds.length)).toEqual([1, 1, 1]);
  });

  it('keeps int64 in every field that adds up', async () => {
    const id = 'ptr_types:test';
    await store.open(id);
    const at = new Date(start);
    await store.apply([
      {
        walletId: id,
        settled: [],
        postings: [
          {
            id: 'txn_1',
            kind: 'funding',
            amount: 5_000,
            counted: false,
            basis: 0,
            at,
            deadline: at,
            memo: null,
          },
        ],
      },
    ]);
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
