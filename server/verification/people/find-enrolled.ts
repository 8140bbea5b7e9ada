import type { ClaimName, Claims } from '../../../contracts/claims.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';
import type { IsFresh } from './freshness.ts';
import type { UserStore } from './user-store.ts';

/** An enrolled user, with the claims that can be resolved without a new session. */
export interface Enrolled
  extends Pick<Enrollment, 'clientId' | 'sub' | 'status' | 'rehearse' | 'consentedClaims' | 'firstSession'> {
  id: string;
  /** The user's claims that are still fresh. */
  freshClaims: Claims;
}

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'find'>;
  users: Pick<UserStore, 'find'>;
  isFresh: IsFresh;
  clock: { now(): number };
}

/** Finds an enrolled user by the enrollment's id. */
export function createEnrolledUsers({ enrollments, users, isFresh, clock }: Dependencies) {
  return async function find(enrollmentId: string): Promise<Enrolled | undefined> {
    const enrollment = await enrollments.find(enrollmentId);
    const user = enrollment && (await users.find(enrollment.userId));
    if (!user) return undefined;
    const now = clock.now();
    const fresh = Object.entries(user.claims).filter(([name, claim]) =>
      isFresh(name as ClaimName, claim, now),
    );
    return {
      ...enrollment,
      id: enrollment._id,
      freshClaims: Object.fromEntries(fresh.map(([name, { value }]) => [name, value])),
    };
  };
}
