import type { Db } from 'mongodb';
import { createGrantStore } from './grant-store.ts';
import { createLedgerStore } from './ledger/ledger-store.ts';
import { createRevocationStore } from './revocation-store.ts';

/** The stores of this feature: the ledgers of all wallets, and the revocations of accesses. */
export const createBillingStores = (db: Db) => ({
  ledger: createLedgerStore(db),
  grants: createGrantStore(db),
  revocations: createRevocationStore(db),
});
export type BillingStores = ReturnType<typeof createBillingStores>;
