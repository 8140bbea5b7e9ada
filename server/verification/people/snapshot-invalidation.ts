import type { Logger } from '../../platform/telemetry/logging.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { EnrollmentStore } from './enrollment-store.ts';
import type { SnapshotOwner } from './invalidation-store.ts';
import type { UserStore } from './user-store.ts';

type ChangedUser = Required<SnapshotOwner> & { erasedAt?: Date };
type ChangedEnrollment = Required<SnapshotOwner> & { userId: string };

interface Dependencies {
  sessions: Pick<SessionStore, 'invalidateSnapshots'>;
  users: Pick<UserStore, 'invalidations'>;
  enrollments: Pick<EnrollmentStore, 'invalidations'>;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** The process that made a change has this long to invalidate the snapshots itself. */
const gracePeriodMs = 5_000;
const perSweep = 200;

/**
 * Invalidates the claims snapshots of a user's sessions after a change of the user or an enrollment. The sweep resumes
 * interrupted invalidations. Idempotent.
 */
export function createSnapshotInvalidation({ sessions, users, enrollments, clock, logger }: Dependencies) {
  async function user(changed: ChangedUser): Promise<void> {
    const { _id: userId, invalidateAt, erasedAt } = changed;
    await sessions.invalidateSnapshots({ userId }, invalidateAt, erasedAt ? 'user erased' : 'claims changed');
    await users.invalidations.done(changed);
  }

  async function enrollment(changed: ChangedEnrollment): Promise<void> {
    const { _id: enrollmentId, userId, invalidateAt } = changed;
    await sessions.invalidateSnapshots({ userId, enrollmentId }, invalidateAt, 'enrollment blocked');
    await enrollments.invalidations.done(changed);
  }

  return {
    user,
    enrollment,

    async sweep(): Promise<void> {
      const before = new Date(clock.now() - gracePeriodMs);
      const [changedUsers, changedEnrollments] = await Promise.all([
        users.invalidations.due(before, perSweep),
        enrollments.invalidations.due(before, perSweep),
      ]);
      const results = await Promise.allSettled([
        ...changedUsers.map(user),
        ...changedEnrollments.map(enrollment),
      ]);
      for (const result of results) {
        if (result.status === 'rejected') logger.warn({ err: result.reason }, 'left to the next sweep');
      }
    },
  };
}
export type SnapshotInvalidation = ReturnType<typeof createSnapshotInvalidation>;
