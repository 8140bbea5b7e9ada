import type { AnyBulkWriteOperation, Db } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { updateEach } from '../../platform/database/write-groups.ts';

export const collection = 'walletSummaries';

/** The figures of a wallet that lists need. They are derived from the ledger and may be some seconds old. */
export interface WalletSummary {
  _id: string;
  mode: Mode;
  n: number;
  /** The time of that page. */
  at: Date;
  /** The balance in cents. */
  balance: number;
  /** The `seq` of the last entry, which is the number of entries of the whole statement. */
  seq: number;
  /** Cents spent per day. */
  spentPerDay: number;
  /** When the balance will be spent if the spending stays the same. */
  endsAt?: Date;
  /** A spend cap that is reached, until its window ends. */
  capped?: { bucket: 'minute' | 'hour'; limit: number; until: Date };
}

/** Whether a wallet has an entry that moves money. The first one is a funding or an adjustment by an operator. */
export const wasFunded = ({ seq }: Pick<WalletSummary, 'seq'>): boolean => seq > 0;

export const indexes: IndexDeclaration[] = [
  { collection, key: { mode: 1, balance: 1, _id: 1 } },
  { collection, key: { mode: 1, endsAt: 1, _id: 1 } },
  { collection, key: { 'capped.until': 1 }, sparse: true },
];

/** The most wallets with a reached cap that one read returns. */
const mostCapped = 1_000;

export function createWalletSummaryStore(db: Db) {
  const summaries = db.collection<WalletSummary>(collection);

  return {
    /** Returns the number of the last page that each existing summary has read, by wallet id. */
    async pageNumbers(ids: readonly string[]): Promise<Map<string, number>> {
      const found = await summaries.find({ _id: { $in: [...ids] } }, { projection: { n: 1 } }).toArray();
      return new Map(found.map(({ _id, n }) => [_id, n]));
    },

    /**
     * Stores summaries. A summary that another process has replaced since `storedPages` was read stays as it is: the filter then
     * finds no document, so the server tries to insert one, and the unique index of `_id` refuses it.
     */
    async put(fresh: readonly WalletSummary[], storedPages: ReadonlyMap<string, number>): Promise<void> {
      if (fresh.length === 0) return;
      const noPage = -1;
      const writes: AnyBulkWriteOperation<WalletSummary>[] = fresh.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id, n: storedPages.get(_id) ?? noPage }, replacement, upsert: true },
      }));
      const { refused } = await updateEach(summaries, writes);
      const failure = [...refused.values()].find((refusal) => !isDuplicateKey(refusal));
      if (failure) throw failure;
    },

    findAll: (ids: readonly string[]): Promise<WalletSummary[]> =>
      summaries.find({ _id: { $in: [...ids] } }).toArray(),

    /** Returns the wallets that have reached a cap now. */
    capped: (now: Date): Promise<WalletSummary[]> =>
      summaries
        .find({ 'capped.until': { $gt: now } })
        .limit(mostCapped)
        .toArray(),

    /** Returns the used wallets with a balance of less than `cents`, the lowest balance first. @param limit 0 for all */
    below: (modes: readonly Mode[], cents: number, limit = 0): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, balance: { $lt: cents }, seq: { $gt: 0 } })
        .sort({ balance: 1, _id: 1 })
        .hint({ mode: 1, balance: 1, _id: 1 })
        .limit(limit)
        .toArray(),

    /** Returns the wallets that were never funded. */
    unfunded: (modes: readonly Mode[]): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, balance: 0, seq: 0 })
        .sort({ _id: 1 })
        .hint({ mode: 1, balance: 1, _id: 1 })
        .toArray(),

    /** Returns the wallets whose balance will be spent before a time, the earliest first. */
    endingBefore: (modes: readonly Mode[], time: Date): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, endsAt: { $lt: time } })
        .sort({ endsAt: 1, _id: 1 })
        .hint({ mode: 1, endsAt: 1, _id: 1 })
        .toArray(),
  };
}
export type WalletSummaryStore = ReturnType<typeof createWalletSummaryStore>;
