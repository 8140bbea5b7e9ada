import type { Claims } from '../../../contracts/claims.ts';
import { distinct } from '../../platform/batching/distinct.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import type { CodeSnapshot, Session } from '../../sessions/session.ts';
import type { VerificationStores } from '../store.ts';
import type { User } from '../users/user-store.ts';
import type { Enrollment } from './enrollment-store.ts';

/** The user of a session and their enrollment with its client, as they are now. */
export interface Snapshot {
  user: User;
  /** Absent until the first session that authenticates the user has enrolled them. */
  enrollment?: Enrollment | undefined;
}

export function claimsOf({ claims }: User): Claims {
  return Object.fromEntries(Object.entries(claims).map(([name, { value }]) => [name, value]));
}

/**
 * Returns the claims snapshot that a session stores for its code. Undefined for a blocked enrollment: then the exchange
 * reads the enrollment, which an operator may have unblocked.
 */
export function codeSnapshotOf(
  { user, enrollment }: Snapshot,
  session: Session,
): Omit<CodeSnapshot, 'until'> | undefined {
  if (enrollment?.status === 'blocked') return undefined;
  // `rehearse` is the refusal that a sandbox person rehearses. The session makes the enrollment if there is none yet.
  const { rehearse } = enrollment ?? session;
  return { claims: claimsOf(user), ...givenFields({ rehearse }) };
}

type SnapshotKeys = Pick<Session, 'userId' | 'enrollmentId'>;

const byId = <R extends { _id: string }>(records: readonly R[]) =>
  new Map<string | undefined, R>(records.map((record) => [record._id, record]));

/** Reads users and enrollments of sessions, all of one tick together. Undefined if the user was erased. */
export function createSnapshots({ users, enrollments }: Pick<VerificationStores, 'users' | 'enrollments'>) {
  return createGroupCommit<SnapshotKeys, Snapshot | undefined>({
    async run(sessions) {
      const [foundUsers, foundEnrollments] = await Promise.all([
        users.findAll(distinct(sessions.map(({ userId }) => userId))).then(byId),
        enrollments.findAll(distinct(sessions.map(({ enrollmentId }) => enrollmentId))).then(byId),
      ]);
      return sessions.map(({ userId, enrollmentId }) => {
        const user = foundUsers.get(userId);
        const enrollment = foundEnrollments.get(enrollmentId);
        return user && { user, enrollment };
      });
    },
  });
}
export type FindSnapshot = ReturnType<typeof createSnapshots>;
