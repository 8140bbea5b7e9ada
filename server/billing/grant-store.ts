import type { Db, Filter } from 'mongodb';
import { anyOf, type Read } from '../platform/database/reads/joint-reads.ts';
import type { Grant, LedgerEntry, LedgerPage } from './ledger/ledger-page.ts';
import { filterOfPages, kindsWithoutCode, collection as ledgerCollection } from './ledger/ledger-store.ts';

/** The ids by which the grants of one user are found in the ledger of one wallet. */
export interface Traces {
  walletId: string;
  /** Ids of the charges for the user's codes. */
  ids: readonly string[];
  enrollmentIds: readonly string[];
}

type EntryWithGrant = LedgerEntry & { grant: Grant };
const hasGrant = (entry: LedgerEntry): entry is EntryWithGrant => entry.grant !== undefined;

const mostPagesPerRemoval = 500;

const expiredGrantsBy = (now: Date) => ({ purgeGrantsAt: { $lt: now } });
/** Finds whether the retention of any grant has ended. */
export const expiredGrantsRead = (now: Date): Read => anyOf(ledgerCollection, expiredGrantsBy(now));

/** Reads and removes grants in the `ledger` collection. Nothing else is ever removed from a ledger. */
export function createGrantStore(db: Db) {
  const ledger = db.collection<LedgerPage>(ledgerCollection);

  return {
    async ofPerson({ walletId, ids, enrollmentIds }: Traces): Promise<EntryWithGrant[]> {
      // The charges of codes are found by their ids, and others by enrollment.
      const filters: Filter<LedgerPage>[] = [
        { walletId, 'entries.id': { $in: [...ids] } },
        ...kindsWithoutCode.map((kind) => ({
          walletId,
          'entries.kind': kind,
          'entries.grant.enrollmentId': { $in: [...enrollmentIds] },
        })),
      ];
      const found = await Promise.all(
        filters.map((filter) => ledger.find(filter).project<LedgerPage>({ entries: 1 }).toArray()),
      );
      const [chargeIds, enrollments] = [new Set(ids), new Set(enrollmentIds)];
      const entries = found.flat().flatMap((page) => page.entries.filter(hasGrant));
      // A page also has entries of other users.
      const ofUser = entries.filter(
        ({ id, grant }) => chargeIds.has(id) || enrollments.has(grant.enrollmentId),
      );
      // A page that both filters find is there twice.
      return [...new Map(ofUser.map((entry) => [entry.id, entry])).values()];
    },

    async remove(walletId: string, ids: readonly string[]): Promise<void> {
      await ledger.updateMany(
        { walletId, 'entries.id': { $in: [...ids] } },
        { $unset: { 'entries.$[named].grant': '' } },
        { arrayFilters: [{ 'named.id': { $in: [...ids] } }] },
      );
    },

    /** Removes the grants of at most 500 pages whose retention has ended. */
    async removeExpired(now: Date): Promise<void> {
      const pages = await ledger
        .find(expiredGrantsBy(now), { projection: { walletId: 1 }, limit: mostPagesPerRemoval })
        .toArray();
      if (pages.length === 0) return;
      await ledger.updateMany(
        filterOfPages(pages),
        { $unset: { 'entries.$[].grant': '', purgeGrantsAt: '' } },
        { hint: { _id: 1 } },
      );
    },
  };
}
export type GrantStore = ReturnType<typeof createGrantStore>;
