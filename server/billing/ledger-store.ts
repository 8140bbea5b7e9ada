import { type Db, Long, MongoBulkWriteError } from 'mongodb';
import { isDuplicateKey } from '../platform/database/connect.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { LedgerEntry } from './ledger.ts';

export const indexes: IndexDeclaration[] = [
  { collection: 'ledger', key: { walletId: 1, seq: 1 }, unique: true },
];

/** Whether a bulk insert failed for nothing but ids that stand already. */
function onlyDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError)) return isDuplicateKey(error);
  const failures = [error.writeErrors].flat();
  return (
    failures.length > 0 &&
    failures.every(({ code }) => code === 11_000) &&
    !error.result.getWriteConcernError()
  );
}

const int64 = (cents: number) => Long.fromNumber(cents);

/** The `ledger` collection: entries are inserted and read, never changed. */
export function createLedgerStore(db: Db) {
  const ledger = db.collection<LedgerEntry>('ledger');

  /** int64 in the database whatever the size of the number. */
  function stored(entry: LedgerEntry): LedgerEntry {
    const legs = entry.legs.map(({ account, amount }) => ({ account, amount: int64(amount) }));
    const numbers = {
      amount: int64(entry.amount),
      balanceAfter: int64(entry.balanceAfter),
      seq: int64(entry.seq),
    };
    return { ...entry, ...numbers, legs } as unknown as LedgerEntry;
  }

  return {
    /** Appends entries; those that stand already are left as they are. */
    async append(entries: readonly LedgerEntry[]): Promise<void> {
      if (entries.length === 0) return;
      await ledger.insertMany(entries.map(stored), { ordered: false }).catch((error: unknown) => {
        if (!onlyDuplicates(error)) throw error;
      });
    },

    async find(id: string): Promise<LedgerEntry | undefined> {
      return (await ledger.findOne({ _id: id })) ?? undefined;
    },
  };
}
export type LedgerStore = ReturnType<typeof createLedgerStore>;
