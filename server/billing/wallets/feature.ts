import { createWalletsProcedures } from './admin.ts';
import { createWalletAudit } from './audit/audit-wallet.ts';
import { createNightlyAudit } from './audit/nightly-audit.ts';
import { createWalletRepair } from './audit/repair-wallet.ts';
import type { WalletsContext } from './context.ts';
import { createRevenueProcedures } from './revenue/admin-revenue.ts';
import { createWalletList } from './wallet-list.ts';
import { createWalletReading } from './wallet-reading.ts';
import { createWalletSummaries } from './wallet-summaries.ts';

/** Makes the views of wallets for staff and partners: balances, statements, limits, prices, audits. `billing` owns the ledger. */
export function createWalletsFeature(context: WalletsContext) {
  const summaries = createWalletSummaries(context);
  const audit = createWalletAudit(context);
  const repair = createWalletRepair(context, audit);
  const list = createWalletList(context, summaries);

  return {
    procedures: {
      revenue: createRevenueProcedures(context),
      ...createWalletsProcedures(context, { audit, repair, list, summaries }),
    },
    sweeps: [summaries.sweep, createNightlyAudit(context, audit)],

    /** Returns a wallet as the partner's programs see it. @throws ApiError `not_found` */
    read: createWalletReading(context, summaries),

    /** Marks a wallet for the next flush. Call this after a page of the wallet was written. */
    touch: summaries.touch,

    /** Stores the summaries of written wallets. Call this when the process stops. If it fails, a later sweep stores them. */
    drain: (): Promise<void> => summaries.flush().catch(() => undefined),
  };
}

export type WalletsFeature = ReturnType<typeof createWalletsFeature>;
