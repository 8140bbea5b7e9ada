import type { Session } from '../session/session.ts';
import { claimsAskedFor } from '../session/steps.ts';
import type { IsFresh } from './freshness.ts';
import type { User } from './user.ts';

/**
 * Whether the user has every claim that a session asks for, and all of them are fresh. The client may have a limit of its
 * own for their age.
 * @param forMs milliseconds from now on for which they must stay fresh
 */
export type HasFreshClaims = (session: Session, user: Pick<User, 'claims'>, forMs?: number) => boolean;

export function createHasFreshClaims({
  isFresh,
  clock,
}: {
  isFresh: IsFresh;
  clock: { now(): number };
}): HasFreshClaims {
  return (session, { claims }, forMs = 0) =>
    claimsAskedFor(session).every((name) =>
      isFresh(name, claims[name], clock.now() + forMs, session.maxVerificationAge),
    );
}
