import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryOf } from '../../server/billing/ledger.ts';
import { createLedgerStore, indexes, type LedgerStore } from '../../server/billing/ledger-store.ts';
import { createSettlement } from '../../server/billing/settlement.ts';
import type { Hold } from '../../server/billing/wallet-model.ts';
import { ensureIndexes } from '../../server/platform/database/indexes.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';

let database: FreshDatabase;
let ledger: LedgerStore;
beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  await ensureIndexes(database.db, indexes);
  ledger = createLedgerStore(database.db);
});
afterAll(() => database.drop());

let made = 0;
function hold(): Hold {
  made += 1;
  const at = new Date();
  return {
    id: `txn_${made}`,
    kind: 'token',
    amount: -50,
    seq: 1,
    balanceAfter: 0,
    at,
    deadline: at,
    memo: null,
  };
}
const settled = () => ({ walletId: `ptr_${made}:test`, hold: hold() });

function settling(append: LedgerStore['append']) {
  const released: string[] = [];
  const appended: number[] = [];
  const settlement = createSettlement({
    ledger: {
      append(entries) {
        appended.push(entries.length);
        return append(entries);
      },
    },
    wallet: { release: (_walletId, ids) => void released.push(...ids) },
    publish: async () => undefined,
    record: async () => undefined,
  });
  return { ...settlement, released, appended };
}

describe('settlement', () => {
  it('writes what comes together in one step', async () => {
    const { settle, released, appended } = settling(ledger.append);
    const several = [settled(), settled(), settled()];
    await Promise.all(several.map(settle));
    expect(appended).toEqual([3]);
    expect(released).toEqual(several.map((one) => one.hold.id));
  });

  it('lets a wallet whose place in the ledger is taken by something else hold up no other', async () => {
    const { settle, released } = settling(ledger.append);
    const corrupt = settled();
    await ledger.append([entryOf(corrupt.walletId, { ...corrupt.hold, id: 'txn_intruder' })]);
    const [before, after] = [settled(), settled()];
    const ends = await Promise.allSettled([before, corrupt, after].map(settle));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const sound = new Set([before.hold.id, after.hold.id]);
    expect(new Set(released)).toEqual(sound);
    expect(await ledger.existing([...sound, corrupt.hold.id])).toEqual(sound);
  });

  it('asks a database that is away once, and releases nothing', async () => {
    const { settle, released, appended } = settling(() => Promise.reject(new MongoNetworkError('away')));
    const ends = await Promise.allSettled([settled(), settled()].map(settle));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([appended, released]).toEqual([[2], []]);
  });
});
