import type { Db } from 'mongodb';
import { BillableKind, type EntryKind } from '../../../../contracts/charge.ts';
import { type LedgerPage, pageIdOf } from '../../ledger/ledger-page.ts';
import { collection } from '../../ledger/ledger-store.ts';

export interface MonthOfEntries {
  /** Such as `2026-06`. */
  month: string;
  kind: EntryKind;
  count: number;
  /** The sum of the amounts in cents. Charges are negative. */
  moved: number;
}

const kinds: readonly EntryKind[] = [...BillableKind.options, 'refund'];
/** How many pages the database adds up with one command, with up to 128,000 entries. */
const pagesPerCommand = 1_000;

/** Adds up the entries of wallets by month. */
export function createRevenueStore(db: Db) {
  const ledger = db.collection<LedgerPage>(collection);

  const sumsOf = (walletId: string, { from, to }: { from: number; to: number }): Promise<MonthOfEntries[]> =>
    ledger
      .aggregate<MonthOfEntries>(
        [
          { $match: { walletId, _id: { $gte: pageIdOf(walletId, from), $lte: pageIdOf(walletId, to) } } },
          // All entries of a page have its time.
          { $set: { month: { $dateToString: { format: '%Y-%m', date: '$at' } } } },
          { $unwind: '$entries' },
          { $match: { 'entries.kind': { $in: kinds } } },
          {
            $group: {
              _id: { month: '$month', kind: '$entries.kind' },
              count: { $sum: 1 },
              moved: { $sum: '$entries.amount' },
            },
          },
          { $project: { _id: 0, month: '$_id.month', kind: '$_id.kind', count: 1, moved: 1 } },
        ],
        { hint: { _id: 1 } },
      )
      .toArray();

  return {
    /** Returns the sums of the pages from number `from` to number `to`, both included, the earliest month first. */
    async months(walletId: string, { from, to }: { from: number; to: number }): Promise<MonthOfEntries[]> {
      const sums = new Map<string, MonthOfEntries>();
      for (let first = from; first <= to; first += pagesPerCommand) {
        const part = await sumsOf(walletId, { from: first, to: Math.min(to, first + pagesPerCommand - 1) });
        for (const { month, kind, count, moved } of part) {
          const key = `${month} ${kind}`;
          const before = sums.get(key) ?? { count: 0, moved: 0 };
          sums.set(key, { month, kind, count: before.count + count, moved: before.moved + moved });
        }
      }
      return [...sums].toSorted(([one], [other]) => one.localeCompare(other)).map(([, sum]) => sum);
    },
  };
}
