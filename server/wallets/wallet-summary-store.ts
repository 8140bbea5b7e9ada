import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { MongoBulkWriteError } from 'mongodb';
import type { Mode } from '../../contracts/identifiers.ts';
import { duplicateKey } from '../platform/database/failures.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';

const collection = 'walletSummaries';

/** What is asked of many wallets at a time. Derived from the ledger; some seconds old. */
export interface WalletSummary {
  /** The wallet's id. */
  _id: string;
  mode: Mode;
  /** Number of the last page that was read. */
  n: number;
  /** Of that page. */
  at: Date;
  /** Cents. */
  balance: number;
  /** Entries of the statement. */
  seq: number;
  /** Cents. */
  spentPerDay: number;
  /** When the balance is spent if use goes on as it does. */
  endsAt?: Date;
  /** A spend cap that is reached, until its window ends. */
  capped?: { bucket: 'minute' | 'hour'; limit: number; until: Date };
}

export const indexes: IndexDeclaration[] = [
  { collection, key: { mode: 1, balance: 1, _id: 1 } },
  { collection, key: { mode: 1, endsAt: 1, _id: 1 } },
  { collection, key: { 'capped.until': 1 }, sparse: true },
];

const mostCapped = 1_000;

const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError &&
  [error.writeErrors].flat().every(({ code }) => code === duplicateKey);

/** The `walletSummaries` collection. */
export function createWalletSummaryStore(db: Db) {
  const summaries = db.collection<WalletSummary>(collection);

  return {
    /** The page numbers of the summaries that exist. */
    async versions(ids: readonly string[]): Promise<Map<string, number>> {
      const found = await summaries.find({ _id: { $in: [...ids] } }, { projection: { n: 1 } }).toArray();
      return new Map(found.map(({ _id, n }) => [_id, n]));
    },

    /** Replaces summaries that are still of the page in `before`: what another process has written since is newer. */
    async put(fresh: readonly WalletSummary[], before: ReadonlyMap<string, number>): Promise<void> {
      if (fresh.length === 0) return;
      const writes: AnyBulkWriteOperation<WalletSummary>[] = fresh.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id, n: before.get(_id) ?? -1 }, replacement, upsert: true },
      }));
      await summaries.bulkWrite(writes, { ordered: false }).catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
      });
    },

    findAll: (ids: readonly string[]): Promise<WalletSummary[]> =>
      summaries.find({ _id: { $in: [...ids] } }).toArray(),

    /** Wallets whose cap is reached now. */
    capped: (now: Date): Promise<WalletSummary[]> =>
      summaries
        .find({ 'capped.until': { $gt: now } })
        .limit(mostCapped)
        .toArray(),

    /** Used wallets that hold less than so many cents, the emptiest first. */
    below: (modes: readonly Mode[], cents: number): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, balance: { $lt: cents }, seq: { $gt: 0 } })
        .sort({ balance: 1, _id: 1 })
        .hint({ mode: 1, balance: 1, _id: 1 })
        .toArray(),

    /** Wallets that were never funded. */
    unfunded: (modes: readonly Mode[]): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, balance: 0, seq: 0 })
        .sort({ _id: 1 })
        .hint({ mode: 1, balance: 1, _id: 1 })
        .toArray(),

    /** Wallets whose balance is spent before a time, the first one first. */
    endingBefore: (modes: readonly Mode[], time: Date): Promise<WalletSummary[]> =>
      summaries
        .find({ mode: { $in: [...modes] }, endsAt: { $lt: time } })
        .sort({ endsAt: 1, _id: 1 })
        .hint({ mode: 1, endsAt: 1, _id: 1 })
        .toArray(),
  };
}
export type WalletSummaryStore = ReturnType<typeof createWalletSummaryStore>;
