import type { WalletReference } from '../../../contracts/admin/wallets.ts';
import type { BillableKind, Prices } from '../../../contracts/charge.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Actor, AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { PartnerNames } from '../../platform/database/partner-names.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Billing } from '../feature.ts';
import type { BillingStores } from '../store.ts';
import type { WalletsStores } from './store.ts';

/** The wallets with exchanges that were refused because the balance was too low, by wallet id. */
export interface UnpaidWallets {
  wallets: ReadonlyMap<string, Unpaid>;
  /** Since when the log has only a sample of such exchanges; null if it has all. */
  sampledSince: string | null;
}

/** The exchanges that were refused because a wallet's balance was too low. */
export interface Unpaid {
  count: number;
  /** When the last of them was refused. */
  lastAt: Date;
}

/** The highest spend caps that members may set. */
export interface Ceilings {
  perMinute?: number | undefined;
  perHour?: number | undefined;
}

/** The parts on which the views of wallets for staff and partners are built. */
export interface WalletsContext {
  stores: WalletsStores & BillingStores;
  billing: Pick<Billing, 'manualEntries' | 'publishing'>;
  clock: Pick<Clock, 'now'>;
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
  /** Signs statements. The keys are published under the base URL. */
  keyring: Pick<Keyring, 'signing'>;
  baseUrl: string;
  /** The configured price of a billable event in cents. */
  standardPrice: number;
  partners: {
    /** @throws ApiError not_found */
    show(partnerId: string): Promise<{ prices?: Prices; ceilings?: Partial<Record<Mode, Ceilings>> }>;
    setCeilings(wallet: WalletReference, ceilings: Ceilings, actor: Actor): Promise<unknown>;
    setPrice(
      partnerId: string,
      price: { kind: BillableKind; cents: number; from: Date | undefined },
      actor: Actor,
    ): Promise<{ prices?: Prices }>;
  };
}
