import type { Db } from 'mongodb';
import { createGrantStore } from './grant-store.ts';
import { createLedgerStore, indexes as ledgerIndexes } from './ledger/ledger-store.ts';
import { createRevocationStore, indexes as revocationIndexes } from './revocation-store.ts';

export const indexes = [...ledgerIndexes, ...revocationIndexes];

/** The stores of this feature: the ledgers of all wallets, and the revocations of accesses. */
export const createBillingStores = (db: Db) => ({
  ledger: createLedgerStore(db),
  grants: createGrantStore(db),
  revocations: createRevocationStore(db),
});
export type BillingStores = ReturnType<typeof createBillingStores>;
