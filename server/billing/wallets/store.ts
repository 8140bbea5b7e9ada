import type { Db } from 'mongodb';
import { createCheckpointStore } from './audit/checkpoint-store.ts';
import { createFaultStore } from './audit/fault-store.ts';
import { createRevenueStore } from './revenue/revenue-store.ts';
import { createWalletSummaryStore } from './wallet-summary-store.ts';
import { createWalletUseStore } from './wallet-use-store.ts';

/**
 * The stores of this feature: summaries of wallets, and how far each ledger was audited.
 * @param maintenance a connection with longer timeouts
 */
export const createWalletsStores = (db: Db, maintenance: Db = db) => ({
  checkpoints: createCheckpointStore(db),
  faults: createFaultStore(db),
  summaries: createWalletSummaryStore(db),
  use: createWalletUseStore(maintenance),
  revenue: createRevenueStore(maintenance),
});
export type WalletsStores = ReturnType<typeof createWalletsStores>;
