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

/** What an endpoint asks a charge to grant. */
export interface ChargeTerms extends AccessTerms {
  lifetimeSeconds: number;
  /** If set, the charge is refused in this way, and nothing is billed. Only sandbox people of the test mode have it. */
  rehearse?: Rehearsal | undefined;
}

/** An earlier charge for the same code or idempotency key. Its access is absent if it was erased or is older than 30 days. */
export interface PastCharge {
  id: string;
  at: Date;
  access?: Access;
  /** Whether the access was revoked before it expired. */
  revoked: boolean;
}

export type Charged<T> = { outcome: 'charged'; answer: T } | { outcome: 'used'; past: PastCharge };

/** The individual prices of a partner, in cents per billable event. */
export type Prices = Partial<Record<BillableKind, number>> & {
  /** Prices that begin later, the earliest first. One that has begun applies in place of the present one. */
  planned?: readonly PlannedPrice[];
};

/** A price in cents that applies from a time on. */
export interface PlannedPrice {
  kind: BillableKind;
  cents: number;
  from: Date;
}

/** Returns the prices of a partner at a time, in milliseconds: planned ones that have begun are the present ones. */
export function pricesAt({ planned = [], ...present }: Prices, now: number): Prices {
  const hasBegun = ({ from }: PlannedPrice) => from.getTime() <= now;
  const begun = planned.filter(hasBegun).map(({ kind, cents }) => [kind, cents]);
  const later = planned.filter((price) => !hasBegun(price));
  return { ...present, ...Object.fromEntries(begun), ...(later.length > 0 ? { planned: later } : {}) };
}

/** The request that a charge is for. A wallet is never charged twice for the same cause, so that a repeated request costs nothing. */
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

/** A charge that an endpoint orders. The wallet of `terms.partnerId` and `terms.mode` pays. */
export interface Order {
  kind: BillableKind;
  /** As in `Cause`. */
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
  /** Finds the earlier charge for a cause, if there is one. */
  past(cause: Cause): Promise<PastCharge | undefined>;
  /**
   * Charges the wallet once for `order.cause` and grants the access.
   * @param answer makes the response while the ledger entry is being written, to save time. It is called again with another
   *   access if the entry moves to a later page of the ledger
   * @throws ApiError payment_required, rate_limited, service_unavailable
   */
  charge<T>(order: Order, answer: (access: Access) => T): Promise<Charged<T>>;
}
