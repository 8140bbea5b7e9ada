import type { Db } from 'mongodb';
import type { Session } from '../../session/session.ts';
import { pendingIn } from './pending.ts';

/**
 * How long a response blocks other responses while it is verified, in milliseconds. Then the request is open again, in
 * case the process has died.
 */
export const claimMs = 20_000;

/** Lets only one of several simultaneous responses claim a request. */
export function createClaimStore(db: Db) {
  const sessions = db.collection<Session>('sessions');
  return {
    /**
     * Claims the open request of a session. The result of the response later replaces the claim.
     * @returns false if another response has claimed the request, or the session has changed or expired
     */
    async claim({ _id, timeline, carried }: Session, now: number): Promise<boolean> {
      const claimedUntil = now + claimMs;
      const { matchedCount } = await sessions.updateOne(
        {
          _id,
          timeline: { $size: timeline.length },
          expiresAt: { $gt: new Date(now) },
          // Matches a request without a claim too.
          'carried.wallet.claimedUntil': { $not: { $gt: now } },
        },
        { $set: { 'carried.wallet': { ...pendingIn(carried), claimedUntil } } },
      );
      return matchedCount === 1;
    },
  };
}
export type ClaimStore = ReturnType<typeof createClaimStore>;
