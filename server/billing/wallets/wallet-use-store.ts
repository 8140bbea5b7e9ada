import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { type LedgerPage, pageIdOf } from '../ledger/ledger-page.ts';
import { collection } from '../ledger/ledger-store.ts';
import type { WalletState } from '../ledger/wallet-rules.ts';
import type { ManualMove, Sample } from './wallet-use.ts';

/** The condition of pages with an entry of an operator: only such entries have an actor. */
const byOperators = { 'entries.memo.actor': { $exists: true } };

export const indexes: IndexDeclaration[] = [
  { collection, key: { walletId: 1, n: 1 }, partialFilterExpression: byOperators },
];

/** The last page of a wallet. */
export interface WalletHead extends Sample, Pick<WalletState, 'seq' | 'minute' | 'hour' | 'caps'> {
  walletId: string;
}

const mostPerQuery = 2_000;

/** A stage `$lookup` for the last page of a wallet. Page ids begin with the wallet id and '/', and '0' follows '/' in ASCII. */
const lastPage = {
  from: collection,
  let: { first: { $concat: ['$walletId', '/'] }, beyond: { $concat: ['$walletId', '0'] } },
  pipeline: [
    { $match: { $expr: { $and: [{ $gte: ['$_id', '$$first'] }, { $lt: ['$_id', '$$beyond'] }] } } },
    { $sort: { _id: -1 } },
    { $limit: 1 },
    { $replaceWith: { $mergeObjects: ['$state', { n: '$n', at: '$at' }] } },
  ],
  as: 'last',
};

function inGroups<T>(all: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (let first = 0; first < all.length; first += mostPerQuery)
    groups.push(all.slice(first, first + mostPerQuery));
  return groups;
}

/** Reads the balances and the spending of many wallets together, without reading their whole ledgers. */
export function createWalletUseStore(db: Db) {
  const ledger = db.collection<LedgerPage>(collection);

  return {
    /** Returns the last pages of wallets in the order of their ids. Each takes one index lookup. */
    async heads(walletIds: readonly string[]): Promise<WalletHead[]> {
      const found = await ledger
        .aggregate<{ walletId: string; last: Omit<WalletHead, 'walletId'>[] }>(
          [
            { $match: { n: 0, walletId: { $in: walletIds } } },
            { $sort: { walletId: 1 } },
            { $project: { _id: 0, walletId: 1 } },
            { $lookup: lastPage },
          ],
          { hint: { n: 1, walletId: 1 } },
        )
        .toArray();
      return found.flatMap(({ walletId, last }) => last.map((page) => ({ ...page, walletId })));
    },

    /** Returns the given pages without their entries, by wallet id. */
    async samples(wanted: readonly { walletId: string; n: number }[]): Promise<Map<string, Sample[]>> {
      const found = new Map<string, Sample[]>();
      for (const group of inGroups(wanted)) {
        const ids = group.map(({ walletId, n }) => pageIdOf(walletId, n));
        const pages = ledger.find(
          { _id: { $in: ids } },
          { hint: { _id: 1 }, projection: { walletId: 1, n: 1, at: 1, 'state.balance': 1 } },
        );
        for await (const { walletId, n, at, state } of pages)
          found.set(walletId, [...(found.get(walletId) ?? []), { n, at, balance: state.balance }]);
      }
      return found;
    },

    /**
     * Returns the amounts that operators moved after the given page of each wallet, by wallet id. Earlier moves may be among them,
     * because one command reads all its wallets from the lowest of their pages on.
     */
    async moves(afterPage: ReadonlyMap<string, number>): Promise<Map<string, ManualMove[]>> {
      const found = new Map<string, ManualMove[]>();
      for (const group of inGroups([...afterPage])) {
        const lowestPage = Math.min(...group.map(([_walletId, n]) => n));
        const pages = ledger.find(
          { ...byOperators, walletId: { $in: group.map(([walletId]) => walletId) }, n: { $gt: lowestPage } },
          {
            hint: { walletId: 1, n: 1 },
            projection: { walletId: 1, n: 1, 'entries.amount': 1, 'entries.memo.actor': 1 },
          },
        );
        for await (const { walletId, n, entries } of pages) {
          const ofOperators = entries.filter(({ memo }) => memo?.actor);
          const amount = ofOperators.reduce((sum, entry) => sum + entry.amount, 0);
          found.set(walletId, [...(found.get(walletId) ?? []), { n, amount }]);
        }
      }
      return found;
    },
  };
}
export type WalletUseStore = ReturnType<typeof createWalletUseStore>;
