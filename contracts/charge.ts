import { z } from 'zod';
import type { ClaimsSnapshot } from './claims.ts';
import type { Mode } from './identifiers.ts';
import type { VerificationLevel } from './storefront.ts';
import type { Rehearsal } from './verification.ts';

/** The kinds of billable events (interface section 8, rule 1). */
export const BillableKind = z.enum(['token', 'storefront', 'checkbox']);
export type BillableKind = z.infer<typeof BillableKind>;

/**
 * The kinds of ledger entries. The billable kinds are charges. `opening` opens a wallet. `caps` changes its spend caps. `fence`
 * takes the place of a page in the ledger if the result of the page's insert stays unknown.
 */
export const EntryKind = z.enum([
  ...BillableKind.options,
  ...(['funding', 'adjustment', 'refund', 'opening', 'caps', 'fence'] as const),
]);
export type EntryKind = z.infer<typeof EntryKind>;

/** What a charge grants: the access of one partner to the verified claims of one user. Internal, never sent to clients. */
export interface AccessTerms extends ClaimsSnapshot {
  partnerId: string;
  mode: Mode;
  clientId: string;
  /** The API key whose webhook URL receives the event. */
  keyId: string;
  sessionId: string;
  enrollmentId: string;
  sub: string;
  /** Whether the user had a session with this client before, which makes a Verified Access Event (interface section 6). */
  returning: boolean;
  scope: string;
  /** The digest that a repeated storefront or checkbox request must have to get the same response. */
  fingerprint?: string;
  /** The verification level in the response of a storefront exchange. */
  verificationLevel?: VerificationLevel;
}

/** An access that was charged. `id` is the charge's id (`txn_…`). */
export interface Access extends AccessTerms {
  id: string;
  kind: BillableKind;
  /** The time of the charge. It is also when the token was issued and the claims were evaluated. */
  at: Date;
  expiresAt: Date;
}

/** The terms of a charge to be made. `rehearse` is the refusal that a sandbox person stands for, in test mode only. */
export interface ChargeTerms extends AccessTerms {
  lifetimeSeconds: number;
  rehearse?: Rehearsal | undefined;
}

/** The existing charge of a cause. Its access is absent if it was erased or is older than 30 days. */
export interface PastCharge {
  id: string;
  at: Date;
  access?: Access;
  /** Whether the access was revoked before it expired. */
  revoked: boolean;
}

export type Charged<T> = { outcome: 'charged'; answer: T } | { outcome: 'used'; past: PastCharge };

/** The individual prices of a partner, in cents per billable event. */
export type Prices = Partial<Record<BillableKind, number>>;

/** The cause of a charge. A wallet is never charged twice for the same cause. */
export interface Cause {
  partnerId: string;
  mode: Mode;
  /** The hash of a code, or a digest of an idempotency key. */
  cause: string;
}

/** Aborted when the caller no longer waits for the response. */
export interface DeadlineSignal extends Pick<AbortSignal, 'aborted' | 'reason'> {
  /** The deadline: the signal is aborted at this time at the latest. In milliseconds of the process's monotonic clock. */
  endsAt?: number;
}

/** The order of an endpoint for a charge. It is charged to the wallet of the partner and mode in the terms. */
export interface Order {
  kind: BillableKind;
  cause: string;
  terms: ChargeTerms;
  prices: Prices | undefined;
  /** If the signal is aborted, a charge that was not sent yet is not made. */
  signal: DeadlineSignal;
  /** The trace context of the request, which is kept for the event. */
  traceparent?: string | undefined;
}

/** The functions of billing that the endpoints use. */
export interface Charging {
  /** Finds the charge of a cause. */
  past(cause: Cause): Promise<PastCharge | undefined>;
  /**
   * Charges the wallet once for `order.cause` and grants the access.
   * @param answer makes the response while the charge is being written. Called again if the charge is written a second time
   * @throws ApiError payment_required, rate_limited, service_unavailable
   */
  charge<T>(order: Order, answer: (access: Access) => T): Promise<Charged<T>>;
}
