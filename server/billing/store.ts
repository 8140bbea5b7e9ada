import type { Db } from 'mongodb';
import { indexes as accessIndexes, createAccessStore } from './access-store.ts';
import { createLedgerStore, indexes as ledgerIndexes } from './ledger-store.ts';
import { createWalletStore, indexes as walletIndexes } from './wallet-store.ts';

export const indexes = [...walletIndexes, ...accessIndexes, ...ledgerIndexes];

/** Everything of this feature that is kept: wallets, what they bought, and the ledger. */
export function createBillingStores(db: Db, patient: Db = db) {
  return {
    wallets: createWalletStore(db, patient),
    accesses: createAccessStore(db, patient),
    ledger: createLedgerStore(db),
  };
}
export type BillingStores = ReturnType<typeof createBillingStores>;
