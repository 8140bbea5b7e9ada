import type { Read } from '../../platform/database/reads/joint-reads.ts';
import type { PeopleContext } from '../context.ts';
import { userCollection } from '../users/identity-store.ts';
import { collection as enrollmentCollection } from './enrollment-store.ts';
import { invalidatedRead, type SnapshotOwner } from './invalidation-store.ts';

type ChangedUser = Required<SnapshotOwner> & { erasedAt?: Date };
type ChangedEnrollment = Required<SnapshotOwner> & { userId: string; withdrawnAt?: Date };

/** How long the sweep leaves a change to the process that made it, which normally invalidates the snapshots at once. */
const gracePeriodMs = 5_000;
const perSweep = 200;

/** After this time, every exchange and event that was under way at an erasure or a withdrawal has been written. */
export const secondLookAfterMs = 60_000;

/**
 * Invalidates the claims snapshots of a user's sessions after a change of the user or an enrollment. The sweep resumes
 * interrupted invalidations. Idempotent.
 * @param endAccesses ends the accesses that were charged under a withdrawn consent. Idempotent
 */
export function createSnapshotInvalidation(
  { sessions, users, enrollments, clock, logger }: PeopleContext,
  endAccesses: (enrollment: { _id: string; userId: string; withdrawnAt: Date }) => Promise<void>,
) {
  /** Invalidates the snapshots of a user after an erasure or a change of the claims. */
  async function user(changed: ChangedUser): Promise<void> {
    const { _id: userId, invalidateAt, erasedAt } = changed;
    await sessions.invalidateSnapshots({ userId }, invalidateAt, erasedAt ? 'user erased' : 'claims changed');
    await users.invalidations.done(changed);
  }

  /**
   * Invalidates the snapshots of an enrollment after a block or a withdrawal. A withdrawal also ends the accesses that the
   * partner has bought. Exchanges that are under way may make more of them, so the change stays due for a second look.
   */
  async function enrollment(changed: ChangedEnrollment): Promise<void> {
    const { _id, userId, invalidateAt, withdrawnAt } = changed;
    const isWithdrawal = withdrawnAt?.getTime() === invalidateAt.getTime();
    // Sessions with a consent after the withdrawal keep their snapshots.
    const affected = { userId, enrollmentId: _id, ...(isWithdrawal ? { consentedBy: withdrawnAt } : {}) };
    const note = isWithdrawal ? 'consent withdrawn' : 'enrollment blocked';
    await sessions.invalidateSnapshots(affected, invalidateAt, note);
    // A block soon after a withdrawal replaces `invalidateAt`. The second look at the withdrawal is then still due.
    const hasNewWithdrawal =
      withdrawnAt !== undefined && invalidateAt.getTime() - withdrawnAt.getTime() < secondLookAfterMs;
    if (hasNewWithdrawal) {
      await endAccesses({ _id, userId, withdrawnAt });
      const isFirstLook = clock.now() - withdrawnAt.getTime() < secondLookAfterMs;
      if (isFirstLook) return;
    }
    await enrollments.invalidations.done(changed);
  }

  const leftBefore = () => new Date(clock.now() - gracePeriodMs);

  return {
    user,
    enrollment,

    /** The look of the sweep. */
    reads: (): Read[] =>
      [userCollection, enrollmentCollection].map((of) => invalidatedRead(of, leftBefore())),

    /** Resumes the invalidations that were interrupted, and takes the second looks. */
    async sweep(): Promise<void> {
      const before = leftBefore();
      const [changedUsers, changedEnrollments] = await Promise.all([
        users.invalidations.due(before, perSweep),
        enrollments.invalidations.due(before, perSweep),
      ]);
      const work = [...changedUsers.map(user), ...changedEnrollments.map(enrollment)];
      await Promise.all(
        work.map((one) => one.catch((err: unknown) => logger.warn({ err }, 'left to the next sweep'))),
      );
    },
  };
}
export type SnapshotInvalidation = ReturnType<typeof createSnapshotInvalidation>;
