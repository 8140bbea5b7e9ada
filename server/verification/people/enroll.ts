import { deriveId, hmac } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logging.ts';
import type { SessionStore } from '../session/session-store.ts';
import { claimsAskedFor, type Session } from '../session/transitions.ts';
import type { Authenticated } from '../sources/source.ts';
import type { Standing } from './claims-snapshot.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';
import type { User, UserStore } from './user-store.ts';

/** `sub` and the `user_id` of events: stable for a partner, and of no use to two partners who compare. */
function pairwiseSubject(key: Uint8Array, about: Pick<Enrollment, 'mode' | 'partnerId' | 'userId'>): string {
  return hmac(key, [about.mode, about.partnerId, about.userId].join('|'));
}

/** How long a person is kept who will never come again. */
const keepPassing = 86_400_000;

interface Dependencies {
  users: Pick<UserStore, 'meet' | 'find'>;
  enrollments: Pick<EnrollmentStore, 'enrol'>;
  sessions: Pick<SessionStore, 'dueForEnrollment' | 'enrolled'>;
  keyring: Pick<Keyring, 'id' | 'pairwise'>;
  /** Publishes in the background what an enrollment owes. */
  drain: (enrollment: Enrollment) => void;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** The sweep leaves to the process that moved a session the time to enrol its user itself. */
const patience = 5_000;
const perSweep = 200;

/** An enrollment as a session that its user has authenticated in makes it. */
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
    // Consent counts when the session that it was given in has completed: until then the user can say no.
    consentedClaims: session.status === 'complete' ? claimsAskedFor(session) : [],
    firstSession: sessionId,
    createdAt: at,
    ...(purgeAt ? { purgeAt } : {}),
    outbox: [
      {
        type: 'enrollment.created',
        cause: [_id],
        partnerId,
        mode,
        keyId,
        about: { sessionId, enrollmentId: _id, sub },
        at,
        fields: { enrollment_id: _id, user_id: sub, created_at: at.toISOString() },
      },
    ],
    outboxAt: at,
    audit: [],
  };
}

/**
 * Users and their enrollments, as sessions bring them about. The session is moved first, and alone decides whether its
 * user has authenticated or consented; what that means for the enrollment follows, idempotent, here or in the sweep.
 */
export function createEnrolling(dependencies: Dependencies) {
  const { users, enrollments, sessions, keyring, drain, clock, logger } = dependencies;

  /** The user of a session with the enrollment brought up to date; undefined where the user was erased. */
  async function enrol(session: Session): Promise<Standing | undefined> {
    const user = session.userId === undefined ? undefined : await users.find(session.userId);
    if (!user) return undefined;
    const enrollment = await enrollments.enrol(enrollmentOf(session, user));
    drain(enrollment);
    return { user, enrollment };
  }

  async function settle(session: Session): Promise<void> {
    await enrol(session);
    await sessions.enrolled(session);
  }

  return {
    enrol,
    /** As `enrol`, where it is the last step that the session owes. */
    settle,

    /** Who has authenticated, as a user of this service: made the first time. */
    async meet({ mode, source }: Session, { subject, passing }: Authenticated): Promise<string> {
      const identity = hmac(keyring.id, JSON.stringify(['identity', mode, source, subject]));
      const createdAt = new Date(clock.now());
      const life = passing ? { purgeAt: new Date(createdAt.getTime() + keepPassing) } : {};
      return (await users.meet({ identity, mode, createdAt, ...life }))._id;
    },

    /** What the session's partner and client know the user as. */
    known({ mode, partnerId, clientId }: Session, userId: string) {
      return {
        userId,
        sub: pairwiseSubject(keyring.pairwise, { mode, partnerId, userId }),
        enrollmentId: deriveId(keyring.id, 'enrollment', [clientId, userId]),
      };
    },

    async sweep(): Promise<void> {
      const due = await sessions.dueForEnrollment(new Date(clock.now() - patience), perSweep);
      const settled = await Promise.allSettled(due.map(settle));
      for (const result of settled) {
        if (result.status === 'rejected') logger.warn({ err: result.reason }, 'left to the next sweep');
      }
    },
  };
}
export type Enrolling = ReturnType<typeof createEnrolling>;
