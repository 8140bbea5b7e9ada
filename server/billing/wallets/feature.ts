import type { Clock } from '../../platform/clock.ts';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { PartnerNames } from '../../platform/database/partner-names.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Billing } from '../feature.ts';
import type { BillingStores } from '../store.ts';
import { createWalletsProcedures, type WalletsAdmin } from './admin.ts';
import { createWalletAudit } from './audit/audit-wallet.ts';
import { createNightlyAudit } from './audit/nightly-audit.ts';
import { createWalletRepair } from './audit/repair-wallet.ts';
import { createRevenueProcedures } from './revenue/admin-revenue.ts';
import type { WalletsStores } from './store.ts';
import { createWalletList, type UnpaidWallets } from './wallet-list.ts';
import { createWalletReading } from './wallet-reading.ts';
import { createWalletSummaries } from './wallet-summaries.ts';

interface Dependencies extends Pick<WalletsAdmin, 'partners' | 'standardPrice' | 'signStatement'> {
  stores: WalletsStores & BillingStores;
  billing: Pick<Billing, 'manualEntries' | 'publishing'>;
  clock: Clock;
  /** The key that seals the checkpoints of audits. */
  key: Uint8Array;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Returns the wallets with exchanges that were refused since a time because the balance was too low, by wallet id. */
  unpaidWallets: (since: Date) => Promise<UnpaidWallets>;
  logger: Pick<Logger, 'error'>;
  /** Whether this process has the role worker, which audits the ledgers each night. */
  worker: boolean;
  partnerNames: PartnerNames;
}

/** Makes the views of wallets for staff and partners: balances, statements, limits, prices, audits. `billing` owns the ledger. */
export function createWalletsFeature(dependencies: Dependencies) {
  const { stores, billing, clock, key, record, unpaidWallets, partnerNames } = dependencies;
  const { signStatement, partners, standardPrice, logger, worker } = dependencies;
  const { ledger, grants, revocations, checkpoints, faults, use } = stores;
  const { manualEntries, publishing } = billing;
  const forLists = { store: stores.summaries, ledger, clock };
  const summaries = createWalletSummaries({ ...forLists, use });
  const forAudits = { store: ledger, revocations, checkpoints, faults, clock };
  const audit = createWalletAudit({ ...forAudits, key });

  return {
    procedures: {
      revenue: createRevenueProcedures({ ...stores, partnerNames }),
      ...createWalletsProcedures({
        store: ledger,
        audit,
        repair: createWalletRepair({ ...forAudits, audit, grants, publishing, record }),
        manualEntries,
        list: createWalletList({ ...forLists, summaries, unpaidWallets, partnerNames }),
        summaries,
        signStatement,
        clock,
        partners,
        standardPrice,
      }),
    },
    sweeps: [summaries.sweep, createNightlyAudit({ audit, store: ledger, faults, clock, logger, worker })],

    /** Returns a wallet as the partner's programs see it. @throws ApiError `not_found` */
    read: createWalletReading({ store: ledger, summaries, clock }),

    /** Marks a wallet for the next flush. Call this after a page of the wallet was written. */
    touch: summaries.touch,

    /** Stores the summaries of written wallets. Call this when the process stops. If it fails, a later sweep stores them. */
    drain: (): Promise<void> => summaries.flush().catch(() => undefined),
  };
}

export type WalletsFeature = ReturnType<typeof createWalletsFeature>;
