import { type Db, type Filter, Long, MongoBulkWriteError } from 'mongodb';
import { isDuplicateKey } from '../platform/database/connect.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { minute } from '../platform/windows.ts';
import { type LedgerEntry, reversalIdOf } from './ledger.ts';

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

  /** Lowest seq first. */
  const first = (filter: Filter<LedgerEntry>) => ledger.find(filter).sort({ seq: 1 }).limit(1).next();

  /** Highest seq in the ledger; 0 where there is none. */
  async function lastSeq(walletId: string): Promise<number> {
    return (await ledger.find({ walletId }).sort({ seq: -1 }).limit(1).next())?.seq ?? 0;
  }

  return {
    /**
     * Appends entries; those that stand already are left as they are.
     * @throws where another entry stands in an entry's place: nothing may be taken for written that is not
     */
    async append(entries: readonly LedgerEntry[]): Promise<void> {
      if (entries.length === 0) return;
      try {
        await ledger.insertMany(entries.map(stored), { ordered: false });
      } catch (error) {
        if (!onlyDuplicates(error)) throw error;
        const standing = await ledger.find({ _id: { $in: entries.map(({ _id }) => _id) } }).toArray();
        const seqs = new Map(standing.map(({ _id, seq }) => [_id, seq]));
        if (entries.some(({ _id, seq }) => seqs.get(_id) !== seq)) throw error;
      }
    },

    async find(id: string): Promise<LedgerEntry | undefined> {
      return (await ledger.findOne({ _id: id })) ?? undefined;
    },

    /** Entries with `after` < seq ≤ `until`, in the order of seq. */
    page(walletId: string, { after, until }: { after: number; until: number }): Promise<LedgerEntry[]> {
      return ledger
        .find({ walletId, seq: { $gt: after, $lte: until } })
        .sort({ seq: 1 })
        .toArray();
    },

    lastSeq,

    /**
     * Lowest seq of an entry at or after `time`; undefined where there is none. But for seconds, entries are in the
     * order of their time: the place is found by halves, and only from a minute before it on every entry is looked at.
     */
    async firstSeqFrom(walletId: string, time: Date): Promise<number | undefined> {
      const before = new Date(time.getTime() - minute);
      let from = 1;
      let to = await lastSeq(walletId);
      while (from < to) {
        const middle = Math.floor((from + to) / 2);
        const entry = await first({ walletId, seq: { $gte: middle } });
        if (entry && entry.at < before) from = entry.seq + 1;
        else to = middle;
      }
      return (await first({ walletId, seq: { $gte: from }, at: { $gte: time } }))?.seq;
    },

    /** Those of `ids` that have an entry. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      const found = await ledger.find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => _id));
    },

    /** Ids of the reversals (not refunds) of these charges. */
    async reversalsAmong(chargeIds: readonly string[]): Promise<Set<string>> {
      const ids = chargeIds.map(reversalIdOf);
      const found = await ledger
        .find({ _id: { $in: ids }, kind: 'reversal' }, { projection: { _id: 1 } })
        .toArray();
      return new Set(found.map(({ _id }) => _id));
    },
  };
}
export type LedgerStore = ReturnType<typeof createLedgerStore>;
