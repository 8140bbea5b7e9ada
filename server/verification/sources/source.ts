import type { ClaimName, Claims } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { IdentityWalletProfile } from '../../../contracts/identity-wallet-sources.ts';
import type { FailureReason, Rehearsal } from '../../../contracts/verification.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** What a source may know of a session. */
export interface SourceSession {
  id: string;
  partnerId: string;
  mode: Mode;
  /** What the source asked to remember at an earlier step. */
  carried: Record<string, unknown> | undefined;
  /** Of the pages, where the partner asked for one. */
  language: string | undefined;
  /** The requested claims. */
  claims: readonly ClaimName[];
}

/** One of the people that a sandbox page offers. */
export interface Choice {
  name: string;
  /** The result: claims, a failed verification, or a refused exchange. */
  group: 'claims' | 'failures' | 'refusals';
}

/** What the browser shows first: people to choose from, or the way to the source's own site or to an identity wallet. */
export type Beginning =
  | { kind: 'people'; choices: readonly Choice[] }
  | { kind: 'provider'; label: string; url: string }
  /** `notice`: how the last answer of the identity wallet went. */
  | {
      kind: 'identityWallet';
      label: string;
      profile: IdentityWalletProfile;
      url: string;
      /** For the Digital Credentials API: one request for each protocol, and what its answer is posted with. */
      digital: { token: string; requests: readonly object[] };
      notice: 'declined' | 'trouble' | 'answered' | undefined;
      testIdentityWallet: string | undefined;
    }
  | { kind: 'down' };

export interface Authenticated {
  kind: 'authenticated';
  /** The person, by a name that is unique within the source and always the same for the same person. */
  subject: string;
  carry?: Record<string, unknown>;
  /** The source cannot recognise this user again: kept for a day. */
  oneTime?: boolean;
  rehearse?: Rehearsal;
  /** The result of a source that answers without another step. Idempotent. */
  answer?: Verified | Failed;
}
export interface Verified {
  kind: 'verified';
  claims: Claims;
  /** The source has met this person under another identity. */
  duplicate: boolean;
}
export interface Failed {
  kind: 'failed';
  reason: Exclude<FailureReason, 'consent_declined'>;
}

/** How users meet a source in a list of methods. The sandbox is named in their language. */
export type Method = { kind: 'people' } | { kind: 'provider' | 'identityWallet'; label: string };

/** A verification source identifies the user and supplies claims. */
export interface VerificationSource {
  name: string;
  modes: readonly Mode[];
  method: Method;
  /** The claims, of these, that it can answer. */
  answers(claims: readonly ClaimName[]): ClaimName[];
  /** Whether it asks for a personal number, by which it recognises the user. */
  asksNumber: boolean;
  /** Whether it was out of order a moment ago, as far as this process knows. */
  isDown(now: number): boolean;
  begin(session: SourceSession, attempt: AuthorizationRequest): Promise<Beginning>;
  /** For a source with a site of its own: judges what the browser brought back from there. */
  finish?(answer: URLSearchParams, attempt: AuthorizationRequest): Promise<Authenticated | Failed>;
  /**
   * Identifies the user by the submitted form. Absent where the source has no form of its own.
   * @throws ApiError `invalid_request` for input that its page does not offer
   */
  authenticate?(
    session: SourceSession,
    input: Readonly<Record<string, string>>,
  ): Promise<Authenticated | Failed>;
  /** The result for a user who has authenticated and has no fresh claims. Idempotent. */
  verify(session: SourceSession): Promise<Verified | Failed>;
}

/** The result of a source that supplied the claims with the authentication. */
export async function verifyCarried({ carried }: SourceSession): Promise<Verified | Failed> {
  const claims = carried?.['claims'] as Claims | undefined;
  return claims ? { kind: 'verified', claims, duplicate: false } : { kind: 'failed', reason: 'source_error' };
}
