import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { entryOf } from '../../server/billing/ledger.ts';
import { createLedgerStore, indexes, type LedgerStore } from '../../server/billing/ledger-store.ts';
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

const start = Date.parse('2026-11-01T00:00:00Z');
let made = 0;

/** Entries at these times, in milliseconds from the start. */
async function walletWith(times: readonly number[]): Promise<string> {
  made += 1;
  const walletId = `ptr_${made}:test`;
  const entries = times.map((time, n) => {
    const at = new Date(start + time);
    const hold = { id: `txn_${made}_${n}`, kind: 'token', amount: -50, seq: n + 1, balanceAfter: 0 } as const;
    return entryOf(walletId, { ...hold, at, deadline: at, memo: null });
  });
  await ledger.append(entries);
  return walletId;
}

it('finds the first entry of a time, though neighbours may be out of order by seconds', async () => {
  const day = 86_400_000;
  const time = fc.integer({ min: 0, max: day });
  const lateness = fc.integer({ min: 0, max: 10_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(time, lateness), { maxLength: 60 }),
      fc.array(time),
      async (made, asked) => {
        const times = made.sort(([a], [b]) => a - b).map(([at, late]) => at - late);
        const walletId = await walletWith(times);
        for (const from of [-day, ...asked, ...times, day]) {
          const expected = times.findIndex((at) => at >= from) + 1 || undefined;
          expect(await ledger.firstSeqFrom(walletId, new Date(start + from))).toBe(expected);
        }
      },
    ),
    { numRuns: 20 },
  );
});
