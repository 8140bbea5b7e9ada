import { z } from 'zod';
import type { ClaimsSnapshot } from './claims.ts';
import type { Mode } from './identifiers.ts';
import type { VerificationLevel } from './storefront.ts';
import type { Rehearsal } from './verification.ts';

/** What is billed (interface section 8, rule 1). */
export const BillableKind = z.enum(['token', 'storefront', 'checkbox']);
export type BillableKind = z.infer<typeof BillableKind>;

/**
 * What a ledger entry can be. The billable kinds are charges. `opening` makes a wallet, `caps` changes its spend caps, and
 * `fence` takes a page's place in the chain after an insert whose result is unknown.
 */
export const EntryKind = z.enum([
  ...BillableKind.options,
  ...(['funding', 'adjustment', 'refund', 'opening', 'caps', 'fence'] as const),
]);
export type EntryKind = z.infer<typeof EntryKind>;

/** What a charge grants: the verified access of one partner to one user's claims. Never on the wire. */
export interface AccessTerms extends ClaimsSnapshot {
  partnerId: string;
  mode: Mode;
  clientId: string;
  /** The API key whose webhook URL gets the event. */
  keyId: string;
  sessionId: string;
  enrollmentId: string;
  sub: string;
  /** Whether the session was not the user's first: a Verified Access Event (interface section 6). */
  returning: boolean;
  scope: string;
  /** What a storefront or checkbox request must repeat to get the same answer again. */
  fingerprint?: string;
  /** What a storefront's answer says besides the claims. */
  verificationLevel?: VerificationLevel;
}

/** An access that was charged. `id` is the charge's id (`txn_…`). */
export interface Access extends AccessTerms {
  id: string;
  kind: BillableKind;
  /** When it was charged: the token's issue and the evaluation of its claims. */
  at: Date;
  expiresAt: Date;
}

/** What shall be charged for. `rehearse`: the refusal that a sandbox person asks for, in test mode only. */
export interface Terms extends AccessTerms {
  lifetimeSeconds: number;
  rehearse?: Rehearsal | undefined;
}

/** The charge that stands for a cause. Its access is absent once it was erased or is older than 30 days. */
export interface PastCharge {
  id: string;
  at: Date;
  access?: Access;
  /** Whether the access was revoked before it expired. */
  revoked: boolean;
}

export type Charged<T> = { outcome: 'charged'; answer: T } | { outcome: 'used'; past: PastCharge };

/** Cents per billable event where a partner's price differs from the configured one. */
export type Prices = Partial<Record<BillableKind, number>>;

/** What identifies a charge. The same cause is never charged twice in a wallet. */
export interface Cause {
  partnerId: string;
  mode: Mode;
  /** A code's hash, or a digest of an idempotency key. */
  cause: string;
}

/** How long a caller waits. */
export interface Waiting extends Pick<AbortSignal, 'aborted' | 'reason'> {
  /** When it is aborted at the latest, on the monotonic clock of the process in milliseconds. */
  endsAt?: number;
}

/** What an endpoint asks to be charged. The wallet is that of the terms: of their partner and mode. */
export interface Order {
  kind: BillableKind;
  cause: string;
  terms: Terms;
  prices: Prices | undefined;
  /** Once it is aborted, a charge that was not sent yet is not made. */
  signal: Waiting;
  /** The trace of the request; kept for the event. */
  traceparent?: string | undefined;
}

/** The exchange core as an endpoint sees it. */
export interface Charging {
  /** The charge that stands for a cause. */
  past(of: Cause): Promise<PastCharge | undefined>;
  /**
   * Charges the wallet once for `order.cause` and grants the access.
   * @param answer makes the answer while the charge is on its way to the database; run again where it goes a second time
   * @throws ApiError payment_required, rate_limited, service_unavailable
   */
  charge<T>(order: Order, answer: (access: Access) => T): Promise<Charged<T>>;
}
