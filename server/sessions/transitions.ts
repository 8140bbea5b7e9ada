import { codeLifetimeSeconds, type Device, type FailureReason } from '../../contracts/verification.ts';
import type { EventDraft } from '../platform/database/event-draft.ts';
import { givenFields } from '../platform/database/reads/look-through.ts';
import type { CodeSnapshot, Handoff, IssuedCode, Session, TimelineEntry } from './session.ts';

/** A change of a session. It applies only while the stored timeline is as long as that of the session that was read. */
export interface Transition {
  set: Partial<Omit<Session, '_id' | 'timeline' | 'outbox' | 'outboxAt' | 'purgeAt' | 'carried'>>;
  entry: TimelineEntry;
  /** Further entries of the same change, in order, before `entry`. */
  earlier?: TimelineEntry[];
  /** The new state that the source keeps in the session. Undefined keeps the old one, null removes it. */
  carried?: Record<string, unknown> | null | undefined;
  event?: EventDraft;
  /** Whether the enrollment now needs no update for this session, so `enrollmentDueAt` is removed. */
  isEnrollmentDone?: boolean;
}

export function applied({ session, transition }: { session: Session; transition: Transition }): Session {
  const { set, entry, earlier = [], carried, event, isEnrollmentDone } = transition;
  const next: Session = { ...session, ...set, timeline: [...session.timeline, ...earlier, entry] };
  if (carried === null) delete next.carried;
  else if (carried !== undefined) next.carried = carried;
  if (isEnrollmentDone) delete next.enrollmentDueAt;
  if (event) {
    next.outbox = [...session.outbox, event];
    next.outboxAt = entry.at;
    // A session is deleted only after its events are published.
    delete next.purgeAt;
  }
  return next;
}

/**
 * Joins two transitions of one session, so that one write stores both.
 * @param first must have no event, because a transition can have only one
 */
export function joined(first: Transition, second: Transition): Transition {
  const set = { ...first.set, ...second.set };
  // One write cannot both set and remove `enrollmentDueAt`.
  if (second.isEnrollmentDone) delete set.enrollmentDueAt;
  return {
    ...second,
    set,
    carried: second.carried === undefined ? first.carried : second.carried,
    earlier: [...(first.earlier ?? []), first.entry, ...(second.earlier ?? [])],
  };
}

/**
 * The user has accepted to share the claims.
 * @param canSave whether the browser can make a passkey, so that the user is asked to save one after the verification
 * @param note for operators
 */
export function consented(
  at: Date,
  { canSave = false, note }: { canSave?: boolean; note?: string } = {},
): Transition {
  return {
    set: { consentedAt: at, ...(canSave ? { passkey: 'offered' } : {}) },
    entry: { at, event: 'consented', ...givenFields({ note }) },
  };
}

/** The user has answered whether to save a passkey. */
export function passkeyAnswered(event: 'passkey_saved' | 'passkey_declined', at: Date): Transition {
  return { set: { passkey: 'answered' }, entry: { at, event } };
}

/**
 * The browser has returned from the source's site. Its authorization request cannot be used again, even if the source
 * then refuses the response. The browser's secret is rotated now, so that a repeated return does not wait for the source.
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

/** The ids of the authorization requests of this session that a browser has already returned with. */
export function spentAttempts(carried: Session['carried']): string[] {
  return (carried?.['spent'] ?? []) as string[];
}

/** The user who has authenticated, as the session's partner and client know them. */
export type AuthenticatedUser = Required<Pick<Session, 'userId' | 'sub' | 'enrollmentId'>>;

/** The fields of a session whose user has authenticated. The enrollment is updated next. */
export function authenticatedFields(user: AuthenticatedUser, at: Date) {
  return { ...user, status: 'authenticated' as const, authenticatedAt: at, enrollmentDueAt: at };
}

type Authentication = AuthenticatedUser & Pick<Session, 'source' | 'browserHash' | 'rehearse' | 'passkey'>;

/**
 * The user has authenticated at the browser that began the session.
 * @param carried the state that the source keeps for its verification
 */
export function authenticated(
  { source, browserHash, rehearse, passkey, ...user }: Authentication,
  { carried, at }: Pick<Transition, 'carried'> & { at: Date },
): Transition {
  const set = { ...authenticatedFields(user, at), browserHash, ...givenFields({ rehearse, passkey }) };
  return { set, carried, entry: { at, event: 'authenticated', note: source } };
}

/** The source has answered, or the claims of an earlier verification were still fresh: `note` tells operators which. */
export function verified(note: string, at: Date): Transition {
  return { set: { status: 'verified' }, carried: null, entry: { at, event: 'verified', note } };
}

/** The source of sessions whose user has authenticated by a passkey. No verification source has this name. */
export const passkeySource = 'passkey';

/** A return by passkey: the user consents, authenticates, and still has fresh claims. One transition stores all of it. */
export function returnedByPasskey(user: Omit<Authentication, 'source'>, at: Date): Transition {
  const authentication = authenticated({ ...user, source: passkeySource }, { at });
  const verification = verified('claims were still fresh', at);
  const transition = joined(consented(at), joined(authentication, verification));
  return { ...transition, set: { ...transition.set, source: passkeySource } };
}

/** The parts that all events of a session share. The session is their `cause`, so each type is published once. */
function draftOf(session: Session, at: Date): Omit<EventDraft, 'type' | 'fields'> {
  const { _id: sessionId, partnerId, clientId, mode, keyId, sub, enrollmentId, traceparent } = session;
  const about = { sessionId, ...givenFields({ enrollmentId, sub }) };
  const trace = givenFields({ traceparent });
  return { cause: [sessionId], partnerId, clientId, mode, keyId, about, at, ...trace };
}

interface Issue {
  code: Pick<IssuedCode, 'hash' | 'keyId'>;
  /** Undefined if the exchange has to read user and enrollment itself, as for a blocked enrollment. */
  snapshot?: Omit<CodeSnapshot, 'until'> | undefined;
  /** Whether an earlier session has enrolled this user with this client. */
  returning: boolean;
  /** Whether the enrollment needs no update: an earlier session made it, and it has all claims of this one. */
  isEnrollmentDone: boolean;
}

/** The hand-off without the hash of the secret that the computer had before the phone's confirmation: it is now refused. */
const withoutComputerHash = ({ computerHash: _removed, ...handoff }: Handoff): Handoff => handoff;

/** `verified` → `complete`: the one step that issues a code. */
export function completed(
  session: Session,
  { code, snapshot, returning, isEnrollmentDone }: Issue,
  at: Date,
): Transition {
  const expiresAt = new Date(at.getTime() + codeLifetimeSeconds * 1000);
  return {
    set: {
      status: 'complete',
      completedAt: at,
      code: { ...code, issuedAt: at, expiresAt, wrongVerifiers: 0 },
      returning,
      ...givenFields({
        snapshot: snapshot && { ...snapshot, until: expiresAt },
        openid: session.openid && { ...session.openid, authenticatedAt: session.authenticatedAt ?? at },
        handoff: session.handoff && withoutComputerHash(session.handoff),
        enrollmentDueAt: isEnrollmentDone ? undefined : at,
      }),
    },
    isEnrollmentDone,
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

/** Ends the session in failure. Its status stays the last one that it reached. */
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
