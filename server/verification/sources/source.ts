import type { Claims } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { FailureReason } from '../../../contracts/verification.ts';

/** What a source may know of a session. */
interface SourceSession {
  id: string;
  clientId: string;
  mode: Mode;
  /** What the source asked to remember at an earlier step. */
  carried: Record<string, unknown> | undefined;
}

/** One of the people that a sandbox page offers. */
export interface Choice {
  name: string;
  /** Refusals of the later exchange are listed apart from results of the verification. */
  group: 'outcomes' | 'refusals';
}

/** What the browser gets to see first: people to choose from. */
export type Beginning = { kind: 'people'; choices: readonly Choice[] };

/** Marks of sandbox people that make the later exchange fail, in test mode only. */
export type Rehearsal = 'low-balance' | 'minute-cap' | 'hour-cap' | 'unavailable';

export interface Authenticated {
  kind: 'authenticated';
  /** The person, by a name that is unique within the source and always the same for the same person. */
  subject: string;
  carry?: Record<string, unknown>;
  rehearse?: Rehearsal;
}
export interface Verified {
  kind: 'verified';
  claims: Claims;
  /** The source has met this person under another identity. */
  duplicate: boolean;
}
export interface Failed {
  kind: 'failed';
  reason: Extract<FailureReason, 'document_rejected' | 'source_error'>;
}

/** Who the user is and what is true of them: the one thing that this service does not know by itself. */
export interface VerificationSource {
  name: string;
  modes: readonly Mode[];
  begin(session: SourceSession): Promise<Beginning>;
  /**
   * Called with what the browser brought, until the user is authenticated; then, for a user without fresh
   * claims, once more with no input for the verification.
   * @throws ApiError `invalid_request` for input that its page does not offer
   */
  resume(
    session: SourceSession,
    input: Readonly<Record<string, string>>,
  ): Promise<Authenticated | Verified | Failed>;
}
