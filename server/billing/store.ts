import type { Db } from 'mongodb';
import { createGrantStore } from './grant-store.ts';
import { createLedgerStore, indexes as ledgerIndexes } from './ledger-store.ts';
import { createRevocationStore, indexes as revocationIndexes } from './revocation-store.ts';

export const indexes = [...ledgerIndexes, ...revocationIndexes];

/** What this feature keeps: the ledgers of all wallets, and which accesses were revoked. */
export const createBillingStores = (db: Db) => ({
  ledger: createLedgerStore(db),
  grants: createGrantStore(db),
  revocations: createRevocationStore(db),
});
export type BillingStores = ReturnType<typeof createBillingStores>;
