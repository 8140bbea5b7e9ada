import type { Claims } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { FailureReason, Rehearsal, SessionStatus, SourceFailure } from '../../contracts/verification.ts';
import type { EventDraft } from '../platform/database/event-draft.ts';
import type { Language } from '../platform/http/browser/language.ts';
import type { DeviceName } from './devices.ts';

/** An entry of a session's timeline. Every transition adds entries, so their number is the session's version. */
export interface TimelineEntry {
  at: Date;
  event:
    | 'started'
    | 'consented'
    | 'method_chosen'
    | 'method_left'
    | 'method_failed'
    | 'returned'
    | 'authenticated'
    | 'verified'
    | 'completed'
    | 'failed'
    /** The claims snapshot of its code was invalidated: the user or the enrollment has changed. */
    | 'snapshot_invalidated'
    | 'passkey_saved'
    | 'passkey_declined'
    | `handoff_${'offered' | 'mistyped' | 'claimed' | 'authenticated' | 'confirmed' | 'cancelled'}`;
  /** Further information for operators, for instance the reason of a failure. */
  note?: string;
  /** Identifies the write, so that a process recognises its own transition. */
  nonce?: string;
}

export interface IssuedCode {
  /** SHA-256 of the code. To send the code again, it is derived again under the key `keyId`. */
  hash: string;
  keyId: string;
  issuedAt: Date;
  expiresAt: Date;
  wrongVerifiers: number;
}

/**
 * The claims snapshot of a code: the user's claims when the code was issued, while the enrollment was active. The
 * exchange then reads nothing else. A later change of user or enrollment removes the snapshot
 * (`SessionStore.invalidateSnapshots`), and the exchange reads both records.
 */
export interface CodeSnapshot {
  claims: Claims;
  rehearse?: Rehearsal;
  /** When the code expires and the snapshot is removed. */
  until: Date;
}

/** The hand-off of a session from a computer to a phone. Only the computer returns to the partner. */
export interface Handoff {
  /**
   * `offered`: link and code are shown on the computer. `claimed`: a phone has typed the code. `confirmed`: the
   * user at the phone has authenticated and confirmed the computer. `cancelled`: link and phone are no longer accepted.
   */
  state: 'offered' | 'claimed' | 'confirmed' | 'cancelled';
  /** Counts the offers of this session. Link and code are derived from it, so they are not stored. */
  number: number;
  /** SHA-256 of the link's token; absent once the link is cancelled. */
  linkHash?: string;
  expiresAt: Date;
  wrongCodes: number;
  computer: DeviceName;
  /**
   * SHA-256 of the secret that the computer's cookie held until the confirmation. The computer can exchange it for the
   * new secret until the session completes.
   */
  computerHash?: string;
  phone?: DeviceName;
  /** SHA-256 of the secret in the phone's cookie. */
  phoneHash?: string;
}

/** The verification sources of a session that has several. The user chooses one, which is then the session's `source`. */
export interface Methods {
  /** In the order of the client. */
  names: string[];
  /** Grows with each choice and each return to the list. Forms and responses of an earlier turn are out of date. */
  turn: number;
  /** Whether the user has chosen `source`; else the list is shown. */
  chosen: boolean;
  /** Methods that cannot be chosen again in this session. */
  failed: Ended[];
  /** The method that ended last, which the list mentions. */
  last?: Ended;
}

interface Ended {
  source: string;
  reason: SourceFailure;
}

/** What a start with the scope `openid` asked for. */
export interface OpenidRequest {
  /** Returned in the ID token unchanged. */
  nonce?: string;
  /** The most milliseconds since the user was verified, if the user returns by a passkey. */
  maxAge?: number;
  /** Set when the code is issued. */
  authenticatedAt?: Date;
}

/** One hosted verification (interface 3.1), from `/verify/start` to the redirect back to the partner. */
export interface Session {
  _id: string;
  partnerId: string;
  clientId: string;
  /** The API key that owns the session: it may query the session, and gets the session's events. */
  keyId: string;
  mode: Mode;
  /** Name of the verification source. */
  source: string;
  /** Present if the user may choose from several sources. */
  methods?: Methods;
  redirectUri: string;
  state: string;
  /** Finds a session by its `state`; absent in sessions of older builds. */
  stateHash?: string;
  /** The partner's reference for this session; removed when the user is erased. */
  clientReferenceId?: string;
  /** The requested identifiers, without repetitions. Some may be unknown to the registry. */
  scope: string[];
  codeChallenge: string;
  /** Present if an ID token was asked for. */
  openid?: OpenidRequest;
  /** The client's own limit for the age of claims, in milliseconds; absent if it has none. */
  maxVerificationAge?: number;
  /** The language that the partner asked for, if it is supported; else the browser's language is used. */
  language?: Language;
  /** The trace of the request that started the session; sent with its webhooks. */
  traceparent?: string;
  status: SessionStatus;
  /** SHA-256 of the secret in the browser's cookie. */
  browserHash: string;
  consentedAt?: Date;
  /** Present if the session was offered to a phone. */
  handoff?: Handoff;
  /** State of the source between its steps. Removed when the session ends. */
  carried?: Record<string, unknown>;
  /** `offered`: the browser can make a passkey, and the user is asked once, after the verification. */
  passkey?: 'offered' | 'answered';
  /** Known when the user has authenticated. At a phone, `sub` and `authenticatedAt` follow with the confirmation. */
  userId?: string;
  /** Sandbox people only: the outcome that the exchange of the code rehearses. It is copied to the enrollment. */
  rehearse?: Rehearsal;
  authenticatedAt?: Date;
  sub?: string;
  enrollmentId?: string;
  /** Whether an earlier session had enrolled this user with this client. */
  returning?: boolean;
  /** When the session changed in a way that its enrollment does not show yet. The sweep finds such sessions. */
  enrollmentDueAt?: Date;
  failure?: { reason: FailureReason; at: Date };
  code?: IssuedCode;
  snapshot?: CodeSnapshot;
  timeline: TimelineEntry[];
  /** Events that are not published yet; `outboxAt` is there while any is left. */
  outbox: EventDraft[];
  outboxAt?: Date;
  createdAt: Date;
  expiresAt: Date;
  completedAt?: Date;
  /** When the record may be deleted; absent while its outbox is not empty. */
  purgeAt?: Date;
}
