import type { Claims } from '../../../contracts/claims.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { deriveId, hmac } from '../../platform/ids.ts';
import type { Session } from '../../sessions/session.ts';
import type { Authenticated } from '../../sessions/sources/source.ts';
import { claimsAskedFor } from '../../sessions/steps.ts';
import type { PeopleContext } from '../context.ts';
import { keptClaims, type User } from '../users/user-store.ts';
import type { Snapshot } from './claims-snapshot.ts';
import type { Enrollment } from './enrollment-store.ts';

/** The `sub` of tokens and the `user_id` of events: the same for all clients of a partner, another for each partner. */
function pairwiseSubject(
  key: Uint8Array,
  { mode, partnerId, userId }: Pick<Enrollment, 'mode' | 'partnerId' | 'userId'>,
): string {
  return hmac(key, [mode, partnerId, userId].join('|'));
}

/** How long a one-time user is kept, in milliseconds: one whom the source cannot recognise again. */
export const oneTimeUserLifetimeMs = 86_400_000;

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
    ...givenFields({ rehearse: session.rehearse, purgeAt }),
    // Consent takes effect when its session completes: until then the user can still decline.
    consentedClaims: session.status === 'complete' ? claimsAskedFor(session) : [],
    firstSession: sessionId,
    createdAt: at,
    audit: [],
  };
}

/** The event of a new enrollment. It is made of the stored enrollment alone, so a repeated publication sends the same event. */
function createdEvent(
  { _id, partnerId, clientId, keyId, mode, sub, firstSession, createdAt }: Enrollment,
  { traceparent }: Session,
): EventDraft {
  return {
    type: 'enrollment.created',
    cause: [_id],
    partnerId,
    clientId,
    mode,
    keyId,
    about: { sessionId: firstSession, enrollmentId: _id, sub },
    at: createdAt,
    ...givenFields({ traceparent }),
    fields: { enrollment_id: _id, user_id: sub, created_at: createdAt.toISOString() },
  };
}

/**
 * Makes users and their enrollments. The session is changed first: it alone decides whether its user has authenticated
 * or consented. The enrollment is updated after it, here or by the sweep. Idempotent.
 */
export function createEnrolling(context: PeopleContext) {
  const { users, enrollments, sessions, findSnapshot, keyring, clock } = context;

  /**
   * Makes the enrollment of an authenticated session, or adds the claims that the user has consented to. Idempotent.
   * @param snapshot as it was read after the authentication
   */
  async function enroll(session: Session, { user, enrollment: existing }: Snapshot): Promise<Enrollment> {
    const wanted = enrollmentOf(session, user);
    if (existing && wanted.consentedClaims.every((name) => existing.consentedClaims.includes(name)))
      return existing;
    // An authenticated session always has a consent, which the type does not know. So the default is never used.
    const { consentedAt = session.createdAt } = session;
    return enrollments.enroll(wanted, { exists: existing !== undefined, consentedAt });
  }

  return {
    enroll,

    /**
     * Makes or updates the enrollment of a session. Idempotent.
     * @param read user and enrollment, if the caller has read them after the authentication
     * @returns the enrollment's events to publish
     */
    async applyToEnrollment(session: Session, read?: Snapshot): Promise<EventDraft[]> {
      const snapshot = read ?? (await findSnapshot(session));
      // The user was erased since.
      if (!snapshot) return [];
      const enrollment = await enroll(session, snapshot);
      if (enrollment.firstSession === session._id) return [createdEvent(enrollment, session)];
      // Another session has enrolled the user while this one completed.
      if (session.returning === false) await sessions.markReturning(session._id);
      return [];
    },

    /**
     * Finds the user whom a source has authenticated, or makes one.
     * @param claims stored for a new user only
     */
    async findOrCreateUser({ mode, source }: Session, { subject, oneTime }: Authenticated, claims?: Claims) {
      const identity = hmac(keyring.id, JSON.stringify(['identity', mode, source, subject]));
      const createdAt = new Date(clock.now());
      // A user whom the source cannot recognise again would never be found again, so the record is deleted soon.
      const purgeAt = oneTime ? new Date(createdAt.getTime() + oneTimeUserLifetimeMs) : undefined;
      const firstClaims = claims ? { claims: keptClaims(claims, createdAt), keptSince: createdAt } : {};
      return users.findOrCreate({ identity, mode, createdAt, ...givenFields({ purgeAt }), ...firstClaims });
    },

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
