import type { Claims } from '../../../../contracts/claims.ts';
import type { Device } from '../../../../contracts/verification.ts';

/**
 * The response code (OpenID4VP 1.0, 8.2), which the identity wallet gets for its response. It opens the browser with
 * this code, and so brings the user back.
 */
export interface ReturnCode {
  device: Device;
  /** SHA-256 of the code. */
  codeHash: string;
}

/** An accepted presentation that waits for its browser to return with the code. */
export interface AcceptedPresentation extends ReturnCode {
  claims: Claims;
  subject?: string | undefined;
}

/** The state of a session's requests to identity wallets, in `carried`. Removed when the user has authenticated. */
export interface Pending {
  /** How many requests were answered. The next request has this number. */
  number: number;
  /**
   * The result of the last response, for the user. `declined`: by the user. `trouble`: another error of the identity
   * wallet. `answered`: it has presented, and the browser has to return.
   */
  notice?: 'declined' | 'trouble' | 'answered' | undefined;
  presented?: AcceptedPresentation | undefined;
  /** The code that an identity wallet got after it responded with an error. */
  declined?: ReturnCode | undefined;
  /** While a response is verified: when its lock of the request ends, in ms since 1970. */
  claimedUntil?: number | undefined;
}

/** The state in `carried`. A session that has asked no identity wallet yet has none. */
export const pendingIn = (carried: Record<string, unknown> | undefined): Pending =>
  (carried?.['wallet'] as Pending | undefined) ?? { number: 0 };

/** The state that closes all requests so far: only one with the next number can be answered. */
export const closedRequests = (carried: Record<string, unknown> | undefined): Pending => ({
  number: pendingIn(carried).number + 1,
});
