import type { ClaimName } from '../../contracts/claims.ts';
import type { EnrollmentStore } from './enrollment-store.ts';
import { claimsAskedFor, failed, type Session, type Transition, verified } from './sessions.ts';
import type { VerificationSource } from './sources/source.ts';
import type { User, UserStore } from './user-store.ts';

/** How long a verified claim holds for further sessions: 365 days. */
const freshFor = 365 * 86_400_000;

/** Whether a claim was evaluated lately enough at `now` (ms); one that came to null counts as evaluated. */
export function isFresh({ evaluatedAt }: { evaluatedAt: Date }, now: number): boolean {
  return now - evaluatedAt.getTime() < freshFor;
}

function areFresh(claims: User['claims'], wanted: readonly ClaimName[], now: number): boolean {
  return wanted.every((name) => {
    const claim = claims[name];
    return claim !== undefined && isFresh(claim, now);
  });
}

interface Dependencies {
  users: UserStore;
  enrollments: Pick<EnrollmentStore, 'block'>;
  clock: { now(): number };
}

/** Decides what follows from an authenticated session. Doing it again comes to the same. */
export type Verifying = (session: Session, source: VerificationSource) => Promise<Transition>;

/**
 * Verifies an authenticated user; one whose claims are fresh is not verified again. A duplicate identity
 * blocks the enrollment, and the flow goes on: the exchange refuses it (decisions.md, "Session states").
 */
export function createVerifying({ users, enrollments, clock }: Dependencies): Verifying {
  return async function verify(session, source) {
    const { userId, enrollmentId, clientId, mode, carried } = session;
    if (!userId || !enrollmentId) throw new Error(`session ${session._id} is authenticated without a user`);
    const user = await users.find(userId);
    const now = new Date(clock.now());
    if (user && areFresh(user.claims, claimsAskedFor(session), now.getTime())) {
      return verified('claims were still fresh', now);
    }
    const outcome = await source.resume({ id: session._id, clientId, mode, carried }, {});
    if (outcome.kind === 'authenticated') throw new Error(`the source ${source.name} verified nothing`);
    if (outcome.kind === 'failed') return failed(session, outcome.reason, now);
    await users.keepClaims(userId, outcome.claims, now);
    if (outcome.duplicate) await enrollments.block(enrollmentId, 'duplicate_identity');
    return verified('by the source', now);
  };
}
