import type { Claims } from '../../../contracts/claims.ts';
import type { Backing, Session } from '../sessions.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';
import type { User, UserStore } from './user-store.ts';

/** Who stands behind a session, as they are now. */
export interface Standing {
  claims: Claims;
  enrollment: Enrollment;
}

interface Dependencies {
  users: Pick<UserStore, 'find'>;
  enrollments: Pick<EnrollmentStore, 'find'>;
}

function valuesOf(claims: User['claims']): Claims {
  return Object.fromEntries(Object.entries(claims).map(([name, { value }]) => [name, value]));
}

/** What a code can be issued with; nothing for a blocked enrollment, which is looked at again. */
export function backingOf({ claims, enrollment: { status, rehearse } }: Standing): Backing | undefined {
  if (status !== 'active') return undefined;
  return { claims, ...(rehearse ? { rehearse } : {}) };
}

/** Looks up who stands behind a session; undefined where they were erased. */
export function createStandings({ users, enrollments }: Dependencies) {
  return async function find({
    userId,
    enrollmentId,
  }: Pick<Session, 'userId' | 'enrollmentId'>): Promise<Standing | undefined> {
    if (!userId || !enrollmentId) return undefined;
    const [user, enrollment] = await Promise.all([users.find(userId), enrollments.find(enrollmentId)]);
    return user && enrollment && { claims: valuesOf(user.claims), enrollment };
  };
}
export type FindStanding = ReturnType<typeof createStandings>;
