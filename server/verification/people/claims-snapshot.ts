import type { Claims } from '../../../contracts/claims.ts';
import { createStage } from '../../platform/group-commit.ts';
import type { Backing, Session } from '../session/transitions.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';
import type { User, UserStore } from './user-store.ts';

/** Who stands behind a session, as they are now. */
export interface Standing {
  user: User;
  enrollment: Enrollment;
}

export function claimsOf({ user }: Standing): Claims {
  return Object.fromEntries(Object.entries(user.claims).map(([name, { value }]) => [name, value]));
}

/** What a session can vouch for; nothing where the enrollment is blocked, which every exchange looks at again. */
export function backingOf(standing: Standing): Omit<Backing, 'until'> | undefined {
  const { status, rehearse } = standing.enrollment;
  if (status !== 'active') return undefined;
  return { claims: claimsOf(standing), ...(rehearse ? { rehearse } : {}) };
}

interface Dependencies {
  users: Pick<UserStore, 'findAll'>;
  enrollments: Pick<EnrollmentStore, 'findAll'>;
}

type Behind = Pick<Session, 'userId' | 'enrollmentId'>;

const byId = <R extends { _id: string }>(records: readonly R[]) =>
  new Map<string | undefined, R>(records.map((record) => [record._id, record]));
/** Each value that is there, once. */
export const distinct = (values: readonly (string | undefined)[]) => [
  ...new Set(values.filter((value) => value !== undefined)),
];

/** Looks up who stands behind sessions, those of one tick together; undefined where they were erased. */
export function createStandings({ users, enrollments }: Dependencies) {
  return createStage<Behind, Standing | undefined>({
    async run(sessions) {
      const [foundUsers, foundEnrollments] = await Promise.all([
        users.findAll(distinct(sessions.map(({ userId }) => userId))).then(byId),
        enrollments.findAll(distinct(sessions.map(({ enrollmentId }) => enrollmentId))).then(byId),
      ]);
      return sessions.map(({ userId, enrollmentId }) => {
        const user = foundUsers.get(userId);
        const enrollment = foundEnrollments.get(enrollmentId);
        return user && enrollment && { user, enrollment };
      });
    },
  });
}
export type FindStanding = ReturnType<typeof createStandings>;
