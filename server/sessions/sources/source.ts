import type { ClaimName, Claims } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { FailureReason, Rehearsal } from '../../../contracts/verification.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** The part of a session that its source sees. */
export interface SourceSession {
  id: string;
  partnerId: string;
  mode: Mode;
  /** State that the source has stored at an earlier step. */
  carried: Record<string, unknown> | undefined;
  /** The language that the user chose, or the partner asked for. */
  language: string | undefined;
  claims: readonly ClaimName[];
}

/** One of the people that a sandbox page offers. */
export interface Choice {
  name: string;
  /** The result that the person leads to: claims, a failed verification, or a refused exchange. */
  group: 'claims' | 'failures' | 'refusals';
}

/** The first page of a source: people to choose from, or a link to the source's site or to an identity wallet. */
export type Beginning =
  | { kind: 'people'; choices: readonly Choice[] }
  | { kind: 'provider'; label: string; url: string }
  /** `notice`: the result of the identity wallet's last response (see `Pending`). */
  | {
      kind: 'identityWallet';
      label: string;
      url: string;
      /** For the Digital Credentials API: one request for each protocol, and the token that the response is posted with. */
      digital: { token: string; requests: readonly object[] };
      notice: 'declined' | 'trouble' | 'answered' | undefined;
      /** The address of the test identity wallet with this request; in test mode only. */
      testIdentityWallet: string | undefined;
    }
  | { kind: 'down' };

export interface Authenticated {
  kind: 'authenticated';
  /** Identifies the person within the source. It is always the same for the same person. */
  subject: string;
  /** State for the source's next step. */
  carry?: Record<string, unknown>;
  /** Whether the source cannot recognise this user again. Such users are kept for a day. */
  oneTime?: boolean;
  /** Whether many persons act as this user, so that it has no passkeys and no page of its own data. */
  shared?: boolean;
  /** Sandbox people only: the refusal that the exchange of the code rehearses. */
  rehearse?: Rehearsal;
  /** The result of the verification, from a source that needs no further step for it. */
  result?: Verified | Failed;
}
export interface Verified {
  kind: 'verified';
  claims: Claims;
  /** Whether the source knows this person under another identity. */
  duplicate: boolean;
}
export interface Failed {
  kind: 'failed';
  reason: Exclude<FailureReason, 'consent_declined'>;
}

/** How a list of methods presents a source. The sandbox has no label: the page names it in the user's language. */
export type Method = { kind: 'people' } | { kind: 'provider' | 'identityWallet'; label: string };

/** A verification source identifies the user and supplies claims. */
export interface VerificationSource {
  name: string;
  modes: readonly Mode[];
  method: Method;
  /** Those of the given claims that the source can answer. */
  answers(claims: readonly ClaimName[]): ClaimName[];
  /** Whether the source asks for a personal number, to recognise the user. */
  asksNumber: boolean;
  /** Whether the source is out of order, as far as this process knows. */
  isDown(now: number): boolean;
  begin(session: SourceSession, attempt: AuthorizationRequest): Promise<Beginning>;
  /** Evaluates the response that the browser brings back. Absent if the source has no site of its own. */
  finish?(answer: URLSearchParams, attempt: AuthorizationRequest): Promise<Authenticated | Failed>;
  /**
   * Identifies the user by the submitted form. Absent if the source has no form of its own.
   * @throws ApiError `invalid_request` for input that its page does not offer
   */
  authenticate?(
    session: SourceSession,
    input: Readonly<Record<string, string>>,
  ): Promise<Authenticated | Failed>;
  /** The result for a user who has authenticated and has no fresh claims. Idempotent. */
  verify(session: SourceSession): Promise<Verified | Failed>;
}

/**
 * `verify` of a source that gets the claims when the user authenticates, and keeps them in its state until then. Such
 * sources do not report duplicate identities.
 */
export async function verifyByCarriedClaims({ carried }: SourceSession): Promise<Verified | Failed> {
  const claims = carried?.['claims'] as Claims | undefined;
  return claims ? { kind: 'verified', claims, duplicate: false } : { kind: 'failed', reason: 'source_error' };
}
