import type { Block } from '../people/blocking.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { IsFresh } from '../people/freshness.ts';
import type { Revising } from '../people/snapshot-invalidation.ts';
import type { UserStore } from '../people/user-store.ts';
import { claimsAskedFor, failed, type Session, type Transition, verified } from '../session/transitions.ts';
import type { VerificationSource } from '../sources/source.ts';

interface Dependencies {
  enrol: Enrolling['enrol'];
  users: Pick<UserStore, 'keepClaims'>;
  revise: Pick<Revising, 'user'>;
  block: Block;
  isFresh: IsFresh;
  clock: { now(): number };
}

/** Decides what follows from an authenticated session. Doing it again comes to the same. */
export type Verifying = (session: Session, source: VerificationSource) => Promise<Transition>;

/**
 * Verifies an authenticated user; one whose claims are fresh is not verified again. A duplicate identity
 * blocks the enrollment, and the flow goes on: the exchange refuses it (decisions.md, "Session states").
 */
export function createVerifying({ enrol, users, revise, block, isFresh, clock }: Dependencies): Verifying {
  return async function verify(session, source) {
    const { partnerId, mode, carried, language } = session;
    const standing = await enrol(session);
    const now = new Date(clock.now());
    // Erased since they authenticated: nothing may be kept of them any more.
    if (!standing) return failed(session, 'abandoned', now);
    const { user, enrollment } = standing;
    const returning = enrollment.firstSession !== session._id;
    if (claimsAskedFor(session).every((name) => isFresh(name, user.claims[name], now.getTime()))) {
      // Found elsewhere; an operator who has unblocked this enrollment has decided otherwise.
      if (user.duplicate && !enrollment.blockedAt) await block(enrollment._id, 'duplicate_identity');
      return verified(returning, 'claims were still fresh', now);
    }
    const outcome = await source.resume({ id: session._id, partnerId, mode, carried, language }, {});
    if (outcome.kind === 'authenticated') throw new Error(`the source ${source.name} verified nothing`);
    if (outcome.kind === 'failed') return failed(session, outcome.reason, now);
    // The block first: claims that are kept count as fresh, and nobody looks again.
    if (outcome.duplicate) await block(enrollment._id, 'duplicate_identity');
    await users.keepClaims(user._id, outcome, now);
    await revise.user({ _id: user._id, reviseAt: now });
    return verified(returning, 'by the source', now);
  };
}
