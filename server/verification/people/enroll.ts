import type { Claims } from '../../../contracts/claims.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import { deriveId, hmac } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { Session } from '../session/session.ts';
import type { SessionStore } from '../session/session-store.ts';
import { claimsAskedFor } from '../session/steps.ts';
import type { Authenticated } from '../sources/source.ts';
import type { FindSnapshot, Snapshot } from './claims-snapshot.ts';
import { type Enrollment, type EnrollmentStore, isWithdrawn } from './enrollment-store.ts';
import { keptClaims, type User, type UserStore } from './user-store.ts';

/** The `sub` of tokens and the `user_id` of events: the same for all clients of a partner, another for each partner. */
function pairwiseSubject(
  key: Uint8Array,
  { mode, partnerId, userId }: Pick<Enrollment, 'mode' | 'partnerId' | 'userId'>,
): string {
  return hmac(key, [mode, partnerId, userId].join('|'));
}

/** How long a user who cannot be recognised again is kept. */
export const oneTimeUserLifetimeMs = 86_400_000;

interface Dependencies {
  users: Pick<UserStore, 'findOrCreate'>;
  enrollments: Pick<EnrollmentStore, 'enroll'>;
  sessions: Pick<SessionStore, 'markReturning'>;
  findSnapshot: FindSnapshot;
  keyring: Pick<Keyring, 'id' | 'pairwise'>;
  clock: { now(): number };
}

/** Makes the new enrollment that an authenticated session begins. */
function enrollmentOf(session: Session, { purgeAt }: User): Enrollment {
  const { _id: sessionId, partnerId, clientId, keyId, mode, userId, sub, enrollmentId: _id } = session;
  const at = session.authenticatedAt;
  if (!userId || !sub || !_id || !at) throw new Error(`session ${sessionId} is authenticated without a user`);
  return {
    _id,
    partnerId,
    clientId,
    keyId,
    mode,
    userId,
    sub,
    status: 'active',
    ...(mode === 'test' && session.rehearse ? { rehearse: session.rehearse } : {}),
    // Consent takes effect when its session completes: until then the user can still decline.
    consentedClaims: session.status === 'complete' ? claimsAskedFor(session) : [],
    firstSession: sessionId,
    createdAt: at,
    ...(purgeAt ? { purgeAt } : {}),
    audit: [],
  };
}

/** The event of an enrollment that its first session has made. The same enrollment always has the same event. */
function createdEvent(
  { _id, partnerId, clientId, keyId, mode, sub, ...enrollment }: Enrollment,
  { traceparent }: Session,
): EventDraft {
  const at = enrollment.createdAt;
  return {
    type: 'enrollment.created',
    cause: [_id],
    partnerId,
    clientId,
    mode,
    keyId,
    about: { sessionId: enrollment.firstSession, enrollmentId: _id, sub },
    at,
    ...(traceparent ? { traceparent } : {}),
    fields: { enrollment_id: _id, user_id: sub, created_at: at.toISOString() },
  };
}

/**
 * Makes users and their enrollments. The session is changed first: it alone decides whether its user has authenticated
 * or consented. The enrollment is updated after it, here or by the sweep. Idempotent.
 */
export function createEnrolling(dependencies: Dependencies) {
  const { users, enrollments, sessions, findSnapshot, keyring, clock } = dependencies;

  /**
   * Brings the enrollment of a session up to date. Idempotent.
   * @param read user and enrollment, if the caller has read them after the authentication
   * @returns undefined if the user was erased
   */
  async function enroll(session: Session, read?: Snapshot): Promise<Enrollment | undefined> {
    const snapshot = read ?? (await findSnapshot(session));
    if (!snapshot) return undefined;
    const wanted = enrollmentOf(session, snapshot.user);
    const { enrollment: existing } = snapshot;
    if (existing) {
      const isComplete = wanted.consentedClaims.every((name) => existing.consentedClaims.includes(name));
      // A consent that the user has withdrawn since adds nothing.
      if (isComplete || isWithdrawn(existing, session)) return existing;
    }
    // An authenticated session always has a consent. The default is for the type, and never later than a consent.
    const { consentedAt = session.createdAt } = session;
    return enrollments.enroll(wanted, { exists: existing !== undefined, consentedAt });
  }

  return {
    enroll,

    /**
     * Makes or updates the enrollment of a session. Idempotent.
     * @returns the enrollment's events to publish
     */
    async applyToEnrollment(session: Session, read?: Snapshot): Promise<EventDraft[]> {
      const enrollment = await enroll(session, read);
      if (!enrollment) return [];
      if (enrollment.firstSession === session._id) return [createdEvent(enrollment, session)];
      // Another session has enrolled the user while this one completed.
      if (session.returning === false) await sessions.markReturning(session._id);
      return [];
    },

    /** Finds the user who has authenticated. At the first time, makes a user with the given claims. */
    async findOrCreateUser(
      { mode, source }: Session,
      { subject, oneTime }: Authenticated,
      claims?: Claims,
    ): ReturnType<UserStore['findOrCreate']> {
      const identity = hmac(keyring.id, JSON.stringify(['identity', mode, source, subject]));
      const createdAt = new Date(clock.now());
      const lifetime = oneTime ? { purgeAt: new Date(createdAt.getTime() + oneTimeUserLifetimeMs) } : {};
      const kept = claims ? { claims: keptClaims(claims, createdAt), keptSince: createdAt } : {};
      return users.findOrCreate({ identity, mode, createdAt, ...lifetime, ...kept });
    },

    /** The ids by which the session's partner and client know the user. */
    idsOf({ mode, partnerId, clientId }: Session, userId: string) {
      return {
        userId,
        sub: pairwiseSubject(keyring.pairwise, { mode, partnerId, userId }),
        enrollmentId: deriveId(keyring.id, 'enrollment', [clientId, userId]),
      };
    },
  };
}
export type Enrolling = ReturnType<typeof createEnrolling>;
