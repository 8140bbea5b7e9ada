import type { Claims } from '../../../../contracts/claims.ts';
import type { Device } from '../../../../contracts/verification.ts';

/** The code that brings the browser back from its identity wallet. */
export interface ReturnCode {
  device: Device;
  /** SHA-256 of the response code. */
  codeHash: string;
}

/** A presentation that was accepted, until the browser that asked for it comes back with its code. */
export interface Presented extends ReturnCode {
  claims: Claims;
  subject?: string | undefined;
}

/** State of an identity wallet request, in `carried`. Removed when the user has authenticated. */
export interface Pending {
  /** Requests that were answered: the next one has this number. */
  number: number;
  /** How the last answer went, as its user should know. */
  notice?: 'declined' | 'trouble' | 'answered' | undefined;
  presented?: Presented | undefined;
  /** Of an identity wallet that has answered with an error. */
  declined?: ReturnCode | undefined;
  /** Until when an answer is being judged, in milliseconds since the epoch. */
  claimedUntil?: number | undefined;
}

export const pendingIn = (carried: Record<string, unknown> | undefined): Pending =>
  (carried?.['wallet'] as Pending | undefined) ?? { number: 0 };

/** The state after all requests so far: none of them is open again. */
export const closedRequests = (carried: Record<string, unknown> | undefined): Pending => ({
  number: pendingIn(carried).number + 1,
});
