import type { Claims } from '../../../../contracts/claims.ts';
import type { Device } from '../../../../contracts/verification.ts';

/** The code that brings the browser back from its identity wallet. */
export interface ReturnCode {
  device: Device;
  /** SHA-256 of the response code. */
  codeHash: string;
}

/** An accepted presentation that waits for its browser to return with the code. */
export interface Presented extends ReturnCode {
  claims: Claims;
  subject?: string | undefined;
}

/** The state of a session's requests to identity wallets, in `carried`. Removed when the user has authenticated. */
export interface Pending {
  /** How many requests were answered. The next request has this number. */
  number: number;
  /** The result of the last response, for the user. */
  notice?: 'declined' | 'trouble' | 'answered' | undefined;
  presented?: Presented | undefined;
  /** The code that an identity wallet got after it responded with an error. */
  declined?: ReturnCode | undefined;
  /** While a response is verified: when its claim of the request ends, in ms since 1970. */
  claimedUntil?: number | undefined;
}

export const pendingIn = (carried: Record<string, unknown> | undefined): Pending =>
  (carried?.['wallet'] as Pending | undefined) ?? { number: 0 };

/** A state in which no request so far is open. */
export const closedRequests = (carried: Record<string, unknown> | undefined): Pending => ({
  number: pendingIn(carried).number + 1,
});
