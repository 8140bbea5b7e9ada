import type { Claims } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Device } from '../../../contracts/verification.ts';
import {
  codeLifetimeSeconds,
  type FailureReason,
  type MethodFailure,
  type Rehearsal,
  type SessionStatus,
} from '../../../contracts/verification.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import type { DeviceName } from '../handoff/devices.ts';
import type { Language } from '../pages/languages.ts';

/** What happened in a session, in order. Every transition adds to it: the number of entries is the session's version. */
interface TimelineEntry {
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

/** A change of a session. It applies only to the session as it was read (see `TimelineEntry`). */
export interface Transition {
  set: Partial<Omit<Session, '_id' | 'timeline' | 'outbox' | 'outboxAt' | 'purgeAt' | 'carried'>>;
  entry: TimelineEntry;
  /** What the same change means as well, in order, before `entry`. */
  earlier?: TimelineEntry[];
  /** Undefined leaves it, null removes it. */
  carried?: Record<string, unknown> | null | undefined;
  event?: EventDraft;
  /** Whether the enrollment is complete for this session. */
  enrolled?: boolean;
}

/** The session after a transition. */
export function applied({ session, transition }: { session: Session; transition: Transition }): Session {
  const { set, entry, earlier, carried, event, enrolled } = transition;
  const { carried: before, outboxAt, purgeAt, enrollmentDueAt, ...rest } = session;
  const kept = carried === undefined ? before : carried;
  return {
    ...rest,
    ...(kept ? { carried: kept } : {}),
    ...(enrollmentDueAt && !enrolled ? { enrollmentDueAt } : {}),
    ...(outboxAt ? { outboxAt } : {}),
    ...(event ? { outboxAt: entry.at } : purgeAt && { purgeAt }),
    ...set,
    outbox: [...session.outbox, ...(event ? [event] : [])],
    timeline: [...session.timeline, ...(earlier ?? []), entry],
  };
}

/**
 * @param canSave whether a passkey may be offered after the verification
 * @param note for operators
 */
export function consented(
  at: Date,
  { canSave = false, note }: { canSave?: boolean; note?: string } = {},
): Transition {
  return {
    set: { consentedAt: at, ...(canSave ? { passkey: 'offered' } : {}) },
    entry: { at, event: 'consented', ...(note === undefined ? {} : { note }) },
  };
}

/** The user has answered whether to save a passkey. */
export function passkeyAnswered(event: 'passkey_saved' | 'passkey_declined', at: Date): Transition {
  return { set: { passkey: 'answered' }, entry: { at, event } };
}

/**
 * The browser has returned from the source's site: this authorization request is used up, also where it fails.
 * The browser's secret is rotated now, so that a repeated return does not wait for the source.
 * @param hash SHA-256 of the new secret
 */
export function returned(
  { carried, source, handoff }: Session,
  { attemptId, device, hash }: { attemptId: string; device: Device; hash: string },
  at: Date,
): Transition {
  const spent = [...spentAttempts(carried), attemptId];
  const set =
    device === 'phone' && handoff ? { handoff: { ...handoff, phoneHash: hash } } : { browserHash: hash };
  return { set, carried: { ...carried, spent }, entry: { at, event: 'returned', note: source } };
}

export function spentAttempts(carried: Session['carried']): string[] {
  return (carried?.['spent'] ?? []) as string[];
}

/** From here on the user has authenticated: what this means for the enrollment follows. */
export function counted(who: Required<Pick<Session, 'userId' | 'sub' | 'enrollmentId'>>, at: Date) {
  return { ...who, status: 'authenticated' as const, authenticatedAt: at, enrollmentDueAt: at };
}

type Authentication = Parameters<typeof counted>[0] & Pick<Session, 'source' | 'browserHash' | 'rehearse'>;

export function authenticated(
  { source, browserHash, rehearse, ...who }: Authentication,
  carried: Transition['carried'],
  at: Date,
): Transition {
  const set = { ...counted(who, at), browserHash, ...(rehearse ? { rehearse } : {}) };
  return { set, carried, entry: { at, event: 'authenticated', note: source } };
}

export function verified(note: string, at: Date): Transition {
  return { set: { status: 'verified' }, carried: null, entry: { at, event: 'verified', note } };
}

/** Both in one move: for a user whose claims are known when they authenticate. */
export function authenticatedAndVerified(
  who: Authentication,
  { note, at }: { note: string; at: Date },
): Transition {
  const { set, entry } = authenticated(who, null, at);
  const last = verified(note, at);
  return { ...last, set: { ...set, ...last.set }, earlier: [entry] };
}

/** The source of sessions whose user has authenticated by a passkey. No verification source has this name. */
export const passkeySource = 'passkey';

/** A user returns: the consent, the passkey and fresh claims, in one move. */
export function returnedByPasskey(who: Omit<Authentication, 'source'>, at: Date): Transition {
  const consent = consented(at);
  const { earlier = [], ...rest } = authenticatedAndVerified(
    { ...who, source: passkeySource },
    { note: 'claims were still fresh', at },
  );
  const set = { ...consent.set, ...rest.set, source: passkeySource };
  return { ...rest, set, earlier: [consent.entry, ...earlier] };
}

function draftOf(session: Session, at: Date): Omit<EventDraft, 'type' | 'fields'> {
  const { _id: sessionId, partnerId, clientId, mode, keyId, sub, enrollmentId, traceparent } = session;
  const about = { sessionId, ...(enrollmentId ? { enrollmentId } : {}), ...(sub ? { sub } : {}) };
  const trace = traceparent ? { traceparent } : {};
  return { cause: [sessionId], partnerId, clientId, mode, keyId, about, at, ...trace };
}

interface Issue {
  code: Pick<IssuedCode, 'hash' | 'keyId'>;
  /** Undefined where the exchange has to look for itself, as for a blocked enrollment. */
  snapshot?: Omit<CodeSnapshot, 'until'> | undefined;
  /** Whether an earlier session has enrolled this user with this client. */
  returning: boolean;
  /** Whether the enrollment has everything already: it is an earlier session's, with all claims of this one. */
  enrolled: boolean;
}

/** `verified` → `complete`: the one step that issues a code. */
export function completed(
  session: Session,
  { code, snapshot, returning, enrolled }: Issue,
  at: Date,
): Transition {
  const expiresAt = new Date(at.getTime() + codeLifetimeSeconds * 1000);
  const { computerHash, ...handoff } = session.handoff ?? {};
  return {
    set: {
      status: 'complete',
      completedAt: at,
      code: { ...code, issuedAt: at, expiresAt, wrongVerifiers: 0 },
      ...(snapshot ? { snapshot: { ...snapshot, until: expiresAt } } : {}),
      ...(computerHash ? { handoff: handoff as Handoff } : {}),
      returning,
      ...(enrolled ? {} : { enrollmentDueAt: at }),
    },
    enrolled,
    entry: { at, event: 'completed' },
    event: {
      type: 'verification.session.completed',
      ...draftOf(session, at),
      fields: {
        session_id: session._id,
        user_id: session.sub,
        status: 'complete',
        scopes: session.scope,
        completed_at: at.toISOString(),
      },
    },
  };
}

/** Ends the session in failure; its status stays the last one that it reached. */
export function failed(session: Session, reason: FailureReason, at: Date): Transition {
  return {
    set: { failure: { reason, at } },
    carried: null,
    entry: { at, event: 'failed', note: reason },
    event: {
      type: 'verification.session.failed',
      ...draftOf(session, at),
      fields: { session_id: session._id, failure_reason: reason, failed_at: at.toISOString() },
    },
  };
}
