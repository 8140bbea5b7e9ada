import type { Db } from 'mongodb';
import { createCheckpointStore } from './audit/checkpoint-store.ts';
import { createGrantStore } from './grant-store.ts';
import { createLedgerStore, indexes as ledgerIndexes } from './ledger-store.ts';
import { createRevocationStore, indexes as revocationIndexes } from './revocation-store.ts';
import { createWalletSummaryStore, indexes as summaryIndexes } from './wallet-summary-store.ts';
import { createWalletUseStore, indexes as useIndexes } from './wallet-use-store.ts';

export const indexes = [...ledgerIndexes, ...revocationIndexes, ...useIndexes, ...summaryIndexes];

/**
 * What this feature keeps: the ledgers of all wallets, and which accesses were revoked.
 * @param patient waits longer for its answers
 */
export function createBillingStores(db: Db, patient: Db = db) {
  return {
    ledger: createLedgerStore(db),
    grants: createGrantStore(db),
    revocations: createRevocationStore(db),
    checkpoints: createCheckpointStore(db),
    summaries: createWalletSummaryStore(db),
    use: createWalletUseStore(patient),
  };
}
export type BillingStores = ReturnType<typeof createBillingStores>;
