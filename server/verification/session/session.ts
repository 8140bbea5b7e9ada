import type { Claims } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type {
  FailureReason,
  MethodFailure,
  Rehearsal,
  SessionStatus,
} from '../../../contracts/verification.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import type { DeviceName } from '../handoff/devices.ts';
import type { Language } from '../pages/languages.ts';

/** What happened in a session, in order. Every transition adds to it: the number of entries is the session's version. */
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
  /** What an operator may want to know besides, for instance a failure's reason. */
  note?: string;
  /** Id of the write, by which a process recognises its own transition. */
  nonce?: string;
}

export interface IssuedCode {
  /** SHA-256; the code itself is derived again under key `keyId` when it has to be sent again. */
  hash: string;
  keyId: string;
  issuedAt: Date;
  expiresAt: Date;
  wrongVerifiers: number;
}

/**
 * The claims snapshot of a code: all that was known of the user when it was issued, with an active enrollment. Its exchange
 * reads nothing else. A later change of one of these removes it (`SessionStore.invalidateSnapshots`), and the exchange looks
 * them up.
 */
export interface CodeSnapshot {
  claims: Claims;
  rehearse?: Rehearsal;
  /** When the code expires: no longer than that are claims kept here. */
  until: Date;
}

/** A session that goes on at a phone, begun at a computer. The computer alone returns to the partner. */
export interface Handoff {
  /**
   * `offered`: link and code are shown on the computer. `claimed`: a phone has typed the code. `confirmed`: the
   * person at the phone has authenticated and recognised the computer. `cancelled`: link and phone are of no use any more.
   */
  state: 'offered' | 'claimed' | 'confirmed' | 'cancelled';
  /** How many were offered in this session; link and code are derived from it, so that they need not be stored. */
  number: number;
  /** SHA-256 of the link's token; gone once it is withdrawn. */
  linkHash?: string;
  expiresAt: Date;
  wrongCodes: number;
  computer: DeviceName;
  /**
   * SHA-256 of the secret that the computer's cookie held until the confirmation: good for the new one, until a
   * browser has come back with that.
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
  /** Grows with each choice and each way back to the list: forms and answers of an earlier turn are out of date. */
  turn: number;
  /** Whether the user has chosen `source`; else the list is shown. */
  chosen: boolean;
  /** Methods that cannot be chosen again in this session. */
  failed: Ended[];
  /** The method that led back to the list, for the list to say. */
  last?: Ended;
}

interface Ended {
  source: string;
  reason: MethodFailure;
}

/** One hosted verification (interface 3.1), from `/verify/start` to the redirect back to the partner. */
export interface Session {
  _id: string;
  partnerId: string;
  clientId: string;
  /** The API key that owns the session: may query it, gets its events. */
  keyId: string;
  mode: Mode;
  /** Name of the verification source. */
  source: string;
  /** Where the user may choose from several sources. */
  methods?: Methods;
  redirectUri: string;
  state: string;
  /** What a session is found by where its `state` is known; absent in sessions of older builds. */
  stateHash?: string;
  /** What the partner calls this session; gone once its user is erased. */
  clientReferenceId?: string;
  /** As asked for, without repetitions; may hold identifiers that the registry does not know. */
  scope: string[];
  codeChallenge: string;
  /** Milliseconds after which the client has claims verified again; absent where their own lifetimes say. */
  maxVerificationAge?: number;
  /** Of the pages, where the partner asked for one that we speak; else the browser says. */
  language?: Language;
  /** The trace of the request that started it; sent with its webhooks. */
  traceparent?: string;
  status: SessionStatus;
  /** SHA-256 of the secret in the browser's cookie. */
  browserHash: string;
  consentedAt?: Date;
  /** Where it goes on at a phone. */
  handoff?: Handoff;
  /** State of the source between its steps. Removed when the session ends. */
  carried?: Record<string, unknown>;
  /** Whether the browser can make a passkey: the user is asked once, after the verification. */
  passkey?: 'offered' | 'answered';
  /** Known as soon as the user has authenticated, at a phone too; everything below from when that counts. */
  userId?: string;
  /** Sandbox people only: the mark of their enrollment. */
  rehearse?: Rehearsal;
  authenticatedAt?: Date;
  sub?: string;
  enrollmentId?: string;
  /** Whether an earlier session had enrolled this user with this client. */
  returning?: boolean;
  /** Since when the enrollment does not have what the session means for it (an outbox). */
  enrollmentDueAt?: Date;
  failure?: { reason: FailureReason; at: Date };
  code?: IssuedCode;
  /** Its name in the database is older than that of its type: builds that run side by side have to remove it. */
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
