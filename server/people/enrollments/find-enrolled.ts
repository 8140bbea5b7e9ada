import type { ClaimName, Claims } from '../../../contracts/claims.ts';
import type { PeopleContext } from '../context.ts';

/**
 * Returns a function that finds an enrollment by its id. `freshClaims` are the user's claims that are still fresh, so that they
 * can be resolved without a new session. It returns undefined if the enrollment or the user does not exist.
 */
export function createEnrolledUsers({ enrollments, users, isFresh, clock }: PeopleContext) {
  return async function find(enrollmentId: string) {
    const enrollment = await enrollments.find(enrollmentId);
    const user = enrollment && (await users.find(enrollment.userId));
    if (!user) return undefined;
    const now = clock.now();
    const fresh = Object.entries(user.claims).filter(([name, claim]) =>
      isFresh(name as ClaimName, claim, now),
    );
    const freshClaims: Claims = Object.fromEntries(fresh.map(([name, { value }]) => [name, value]));
    return { ...enrollment, id: enrollment._id, freshClaims };
  };
}
export type FindEnrolled = ReturnType<typeof createEnrolledUsers>;
export type Enrolled = NonNullable<Awaited<ReturnType<FindEnrolled>>>;
