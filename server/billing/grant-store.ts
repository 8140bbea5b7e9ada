import type { Db, Filter } from 'mongodb';
import type { Grant, LedgerEntry, LedgerPage } from './ledger-page.ts';
import { among } from './ledger-store.ts';

/** The keys that find a user's grants in one wallet's ledger. */
export interface Traces {
  walletId: string;
  /** Ids of the charges for the person's codes. */
  ids: readonly string[];
  enrollmentIds: readonly string[];
}

type Granting = LedgerEntry & { grant: Grant };
const isGranting = (entry: LedgerEntry): entry is Granting => entry.grant !== undefined;

const pagesAtOnce = 500;

/** Reads and removes grants in the `ledger` collection. Nothing else is ever removed from a ledger. */
export function createGrantStore(db: Db) {
  const ledger = db.collection<LedgerPage>('ledger');

  return {
    /** Returns the entries that grant an access to a person. */
    async ofPerson({ walletId, ids, enrollmentIds }: Traces): Promise<Granting[]> {
      const concerned: Filter<LedgerPage>[] = [
        { walletId, 'entries.id': { $in: [...ids] } },
        { walletId, 'entries.kind': 'checkbox', 'entries.grant.enrollmentId': { $in: [...enrollmentIds] } },
      ];
      const found = await Promise.all(
        concerned.map((filter) => ledger.find(filter).project<LedgerPage>({ entries: 1 }).toArray()),
      );
      const [named, enrolled] = [new Set(ids), new Set(enrollmentIds)];
      const entries = found.flat().flatMap((page) => page.entries.filter(isGranting));
      const theirs = entries.filter(({ id, grant }) => named.has(id) || enrolled.has(grant.enrollmentId));
      return [...new Map(theirs.map((entry) => [entry.id, entry])).values()];
    },

    /** Removes the grants of these entries. */
    async remove(walletId: string, ids: readonly string[]): Promise<void> {
      await ledger.updateMany(
        { walletId, 'entries.id': { $in: [...ids] } },
        { $unset: { 'entries.$[theirs].grant': '' } },
        { arrayFilters: [{ 'theirs.id': { $in: [...ids] } }] },
      );
    },

    /** Removes the grants of pages whose retention has ended, in at most 500 pages. */
    async removeOld(now: Date): Promise<void> {
      const old = await ledger
        .find({ purgeGrantsAt: { $lt: now } }, { projection: { walletId: 1 }, limit: pagesAtOnce })
        .toArray();
      if (old.length === 0) return;
      await ledger.updateMany(
        among(old),
        { $unset: { 'entries.$[].grant': '', purgeGrantsAt: '' } },
        { hint: { _id: 1 } },
      );
    },
  };
}
export type GrantStore = ReturnType<typeof createGrantStore>;
