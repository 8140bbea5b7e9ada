import type { Session } from '../session/session.ts';
import { claimsAskedFor } from '../session/steps.ts';
import type { IsFresh } from './freshness.ts';
import type { User } from './user.ts';

/**
 * Whether every claim that a session asks for is known of the user and still holds, for this client too.
 * @param forMs milliseconds from now on for which they must hold
 */
export type IsKnown = (session: Session, user: Pick<User, 'claims'>, forMs?: number) => boolean;

export function createIsKnown({ isFresh, clock }: { isFresh: IsFresh; clock: { now(): number } }): IsKnown {
  return (session, { claims }, forMs = 0) =>
    claimsAskedFor(session).every((name) =>
      isFresh(name, claims[name], clock.now() + forMs, session.maxVerificationAge),
    );
}
