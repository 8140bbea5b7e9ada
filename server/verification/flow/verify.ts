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

/** Returns the transition that follows the authentication. Idempotent. */
export type Verify = (session: Session, source: VerificationSource) => Promise<Transition>;

/**
 * Verifies an authenticated user, unless the user's claims are still fresh. A duplicate identity blocks the
 * enrollment. The flow still completes, and the exchange refuses the code (docs/choices.md).
 */
export function createVerify(dependencies: Dependencies): Verify {
  const { findSnapshot, enroll, users, invalidate, block, isKnown, clock } = dependencies;

  /** Blocks the enrollment of a duplicate identity. With `keepUnblocked`, an operator's unblock stays in force. */
  async function blockDuplicate(session: Session, snapshot: Snapshot, keepUnblocked: boolean): Promise<void> {
    const enrollment = await enroll(session, snapshot);
    if (enrollment && !(keepUnblocked && enrollment.blockedAt))
      await block(enrollment._id, 'duplicate_identity');
  }

  return async function verify(session, source) {
    const snapshot = await findSnapshot(session);
    const now = new Date(clock.now());
    // The user was erased after the authentication: nothing may be stored.
    if (!snapshot) return failed(session, 'abandoned', now);
    const { user } = snapshot;
    if (isKnown(session, user)) {
      // The duplicate was found in a session of another client.
      if (user.duplicate) await blockDuplicate(session, snapshot, true);
      return verified('claims were still fresh', now);
    }
    const outcome = await source.verify(sourceSession(session));
    if (outcome.kind === 'failed') return failed(session, outcome.reason, now);
    // Block before the claims are stored: fresh claims are not verified again, so a later attempt would not block.
    if (outcome.duplicate) await blockDuplicate(session, snapshot, false);
    const hasNoClaims = Object.keys(user.claims).length === 0;
    if (!(hasNoClaims && (await users.keepFirstClaims(user._id, outcome, now)))) {
      await users.keepClaims(user._id, outcome, now);
      await invalidate.user({ _id: user._id, invalidateAt: now });
    }
    return verified('by the source', now);
  };
}
