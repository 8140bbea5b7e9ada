import type { AuditEntry } from '../platform/audit-entry.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import type { Publish } from '../platform/outbox.ts';
import { type BillingAdmin, createBillingProcedures } from './admin.ts';
import { createAuditing } from './auditing.ts';
import { createMovements } from './movements.ts';
import { createPurchases } from './purchase.ts';
import { createSettlement } from './settlement.ts';
import type { BillingStores } from './store.ts';
import { createBillingSweep } from './sweep.ts';
import { createWallet } from './wallet.ts';
import { walletIdOf } from './wallet-store.ts';

interface Dependencies extends Pick<BillingAdmin, 'prices' | 'standardPrice'> {
  stores: BillingStores;
  clock: Clock;
  /** Derives the ids of charges and movements. */
  idKey: Uint8Array;
  publish: Publish;
  /** Adds entries to the audit log; twice is once. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  logger: Logger;
  /** Milliseconds until an uncommitted hold may be reversed. */
  holdLifetime?: number;
}

/** Wallets, the exchange core that charges them, the ledger, and what support does with them. */
export function createBillingFeature(dependencies: Dependencies) {
  const { stores, clock, idKey, publish, record, logger, holdLifetime, prices, standardPrice } = dependencies;
  const { wallets, accesses, ledger } = stores;
  const wallet = createWallet({ wallets });
  const settlement = createSettlement({ ledger, wallet, publish, record });
  const movements = createMovements({ wallet, ledger, settlement, clock, idKey });

  return {
    purchases: createPurchases({
      wallet,
      accesses,
      ledger,
      settlement,
      clock,
      idKey,
      logger,
      ...(holdLifetime === undefined ? {} : { holdLifetime }),
    }),
    accesses,
    movements,
    procedures: createBillingProcedures({
      wallets,
      ledger,
      auditing: createAuditing({ wallets, ledger, accesses, clock }),
      movements,
      clock,
      prices,
      standardPrice,
    }),
    sweep: createBillingSweep({ wallets, wallet, accesses, ledger, settlement, movements, clock, logger }),

    async openWallets(partnerId: string): Promise<void> {
      await Promise.all([
        wallets.open(walletIdOf(partnerId, 'test')),
        wallets.open(walletIdOf(partnerId, 'live')),
      ]);
    },

    /** Writes what answered requests still owe; for a graceful stop. */
    async drain(): Promise<void> {
      await settlement.drain();
      await wallet.drain();
    },
  };
}
