import type { PeopleContext } from '../../people/context.ts';
import type { Snapshot } from '../../people/enrollments/claims-snapshot.ts';
import type { Enrolling } from '../../people/enrollments/enroll.ts';
import type { SnapshotInvalidation } from '../../people/enrollments/snapshot-invalidation.ts';
import type { Block } from '../../people/users/blocking.ts';
import type { Session } from '../../sessions/session.ts';
import { sourceSession } from '../../sessions/sources/session-source.ts';
import type { VerificationSource, Verified } from '../../sessions/sources/source.ts';
import { failed, type Transition, verified } from '../../sessions/transitions.ts';

/** Returns the transition that follows the authentication. Idempotent. */
export type Verify = (session: Session, source: VerificationSource) => Promise<Transition>;

/**
 * Verifies an authenticated user, unless the user's claims are still fresh. A duplicate identity blocks the
 * enrollment. The flow still completes, and the exchange refuses the code (docs/choices.md).
 */
export function createVerify(
  { findSnapshot, users, hasFreshClaims, clock }: PeopleContext,
  { enrolling, invalidate, block }: { enrolling: Enrolling; invalidate: SnapshotInvalidation; block: Block },
): Verify {
  /** Stores the claims. The first ones of a user need no invalidation: no session can have a snapshot of older ones. */
  async function storeClaims({ _id, claims }: Snapshot['user'], found: Verified, at: Date): Promise<void> {
    const hasNoClaims = Object.keys(claims).length === 0;
    if (hasNoClaims && (await users.keepFirstClaims(_id, found, at))) return;
    await users.keepClaims(_id, found, at);
    await invalidate.user({ _id, invalidateAt: at });
  }

  return async function verify(session, source) {
    const snapshot = await findSnapshot(session);
    const now = new Date(clock.now());
    // The user was erased after the authentication: nothing may be stored.
    if (!snapshot) return failed(session, 'abandoned', now);
    const { user } = snapshot;
    if (hasFreshClaims(session, user)) {
      // A session of another client has found that this user is a duplicate. The enrollment with this client is blocked too, but only
      // once: an operator may have unblocked it since. `blockedAt` stays after that.
      if (user.duplicate) {
        const { _id, blockedAt } = await enrolling.enroll(session, snapshot);
        if (!blockedAt) await block(_id, 'duplicate_identity');
      }
      return verified('claims were still fresh', now);
    }
    const outcome = await source.verify(sourceSession(session));
    if (outcome.kind === 'failed') return failed(session, outcome.reason, now);
    // Block before the claims are stored: fresh claims are not verified again, so a later attempt would not block.
    if (outcome.duplicate) {
      const { _id } = await enrolling.enroll(session, snapshot);
      await block(_id, 'duplicate_identity');
    }
    await storeClaims(user, outcome, now);
    return verified('by the source', now);
  };
}
