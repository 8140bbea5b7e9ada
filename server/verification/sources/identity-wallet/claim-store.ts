import type { Db } from 'mongodb';
import type { Session } from '../../session/session.ts';
import { pendingIn } from './pending.ts';

/**
 * Milliseconds for which an answer keeps others from being judged: longer than judging takes. After that the request
 * is open again, so that a process which died in between closes no session.
 */
export const claimMs = 20_000;

/** Claims requests for one of the answers that are sent to them at the same time. */
export function createClaimStore(db: Db) {
  const sessions = db.collection<Session>('sessions');
  return {
    /**
     * Claims the open request of a session as it was read. The result of the answer replaces the claim.
     * @returns false where another answer has claimed it, or the session has changed since or expired
     */
    async claim({ _id, timeline, carried }: Session, now: number): Promise<boolean> {
      const claimedUntil = now + claimMs;
      const { matchedCount } = await sessions.updateOne(
        {
          _id,
          timeline: { $size: timeline.length },
          expiresAt: { $gt: new Date(now) },
          'carried.wallet.claimedUntil': { $not: { $gt: now } },
        },
        { $set: { 'carried.wallet': { ...pendingIn(carried), claimedUntil } } },
      );
      return matchedCount === 1;
    },
  };
}
export type ClaimStore = ReturnType<typeof createClaimStore>;
