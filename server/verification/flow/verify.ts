import type { Block } from '../people/blocking.ts';
import type { FindSnapshot, Snapshot } from '../people/claims-snapshot.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { IsKnown } from '../people/known-claims.ts';
import type { SnapshotInvalidation } from '../people/snapshot-invalidation.ts';
import type { UserStore } from '../people/user-store.ts';
import type { Session } from '../session/session.ts';
import { failed, type Transition, verified } from '../session/transitions.ts';
import { sourceSession } from '../sources/session-source.ts';
import type { VerificationSource } from '../sources/source.ts';

interface Dependencies {
  findSnapshot: FindSnapshot;
  enroll: Enrolling['enroll'];
  users: Pick<UserStore, 'keepFirstClaims' | 'keepClaims'>;
  invalidate: Pick<SnapshotInvalidation, 'user'>;
  block: Block;
  isKnown: IsKnown;
  clock: { now(): number };
}

/** Decides what follows from an authenticated session. Idempotent. */
export type Verify = (session: Session, source: VerificationSource) => Promise<Transition>;

/**
 * Verifies an authenticated user; one whose claims are fresh is not verified again. A duplicate identity
 * blocks the enrollment, and the flow goes on: the exchange refuses it (docs/choices.md).
 */
export function createVerify(dependencies: Dependencies): Verify {
  const { findSnapshot, enroll, users, invalidate, block, isKnown, clock } = dependencies;

  /** An operator who has unblocked the enrollment has decided otherwise. */
  async function blockDuplicate(session: Session, snapshot: Snapshot, decided: boolean): Promise<void> {
    const enrollment = await enroll(session, snapshot);
    if (enrollment && !(decided && enrollment.blockedAt)) await block(enrollment._id, 'duplicate_identity');
  }

  return async function verify(session, source) {
    const snapshot = await findSnapshot(session);
    const now = new Date(clock.now());
    // The user was erased after the authentication: nothing may be stored.
    if (!snapshot) return failed(session, 'abandoned', now);
    const { user } = snapshot;
    if (isKnown(session, user)) {
      // Found at another client.
      if (user.duplicate) await blockDuplicate(session, snapshot, true);
      return verified('claims were still fresh', now);
    }
    const outcome = await source.verify(sourceSession(session));
    if (outcome.kind === 'failed') return failed(session, outcome.reason, now);
    // The block first: fresh claims are not verified again.
    if (outcome.duplicate) await blockDuplicate(session, snapshot, false);
    const hasNone = Object.keys(user.claims).length === 0;
    if (!(hasNone && (await users.keepFirstClaims(user._id, outcome, now)))) {
      await users.keepClaims(user._id, outcome, now);
      await invalidate.user({ _id: user._id, invalidateAt: now });
    }
    return verified('by the source', now);
  };
}
