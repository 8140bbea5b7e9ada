import type { Logger } from '../../platform/telemetry/logging.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { EnrollmentStore } from './enrollment-store.ts';
import type { SnapshotOwner } from './invalidation-store.ts';
import type { UserStore } from './user-store.ts';

type ChangedUser = Required<SnapshotOwner> & { erasedAt?: Date };
type ChangedEnrollment = Required<SnapshotOwner> & { userId: string; withdrawnAt?: Date };

interface Dependencies {
  sessions: Pick<SessionStore, 'invalidateSnapshots'>;
  users: Pick<UserStore, 'invalidations'>;
  enrollments: Pick<EnrollmentStore, 'invalidations'>;
  /** Ends the accesses that were charged under a withdrawn consent. Idempotent. */
  endAccesses: (enrollment: { _id: string; userId: string; withdrawnAt: Date }) => Promise<void>;
  clock: { now(): number };
  logger: Pick<Logger, 'warn'>;
}

/** The process that made a change has this long to invalidate the snapshots itself. */
const gracePeriodMs = 5_000;
const perSweep = 200;

/** After this time, every exchange and event that was under way at an erasure or a withdrawal has been written. */
export const secondLookAfterMs = 60_000;

/**
 * Invalidates the claims snapshots of a user's sessions after a change of the user or an enrollment. The sweep resumes
 * interrupted invalidations. Idempotent.
 */
export function createSnapshotInvalidation(dependencies: Dependencies) {
  const { sessions, users, enrollments, endAccesses, clock, logger } = dependencies;

  async function user(changed: ChangedUser): Promise<void> {
    const { _id: userId, invalidateAt, erasedAt } = changed;
    await sessions.invalidateSnapshots({ userId }, invalidateAt, erasedAt ? 'user erased' : 'claims changed');
    await users.invalidations.done(changed);
  }

  /**
   * After a withdrawal, ends accesses too. Exchanges may be under way, so the change stays due: the sweep ends their
   * accesses as well, once `secondLookAfterMs` have passed.
   */
  async function enrollment(changed: ChangedEnrollment): Promise<void> {
    const { _id, userId, invalidateAt, withdrawnAt } = changed;
    const owner = { userId, enrollmentId: _id };
    const isWithdrawal = withdrawnAt?.getTime() === invalidateAt.getTime();
    if (isWithdrawal) {
      // Sessions with a later consent keep their snapshots.
      const consented = { ...owner, consentedBy: withdrawnAt };
      await sessions.invalidateSnapshots(consented, invalidateAt, 'consent withdrawn');
    } else {
      await sessions.invalidateSnapshots(owner, invalidateAt, 'enrollment blocked');
    }
    // A block soon after a withdrawal replaces `invalidateAt`, so the accesses have to be ended here too.
    if (withdrawnAt && invalidateAt.getTime() - withdrawnAt.getTime() < secondLookAfterMs) {
      await endAccesses({ _id, userId, withdrawnAt });
      const isFirstLook = clock.now() - withdrawnAt.getTime() < secondLookAfterMs;
      if (isFirstLook) return;
    }
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
