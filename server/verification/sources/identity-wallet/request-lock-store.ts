import type { Db } from 'mongodb';
import type { Session } from '../../session/session.ts';
import { pendingIn } from './pending.ts';

/**
 * How long a response locks its request while it is verified, in milliseconds. Then the request is open again, because
 * the process that verified the response may have died.
 */
export const requestLockMs = 20_000;

/** Locks requests, so that only one of several simultaneous responses is verified. */
export function createRequestLockStore(db: Db) {
  const sessions = db.collection<Session>('sessions');
  return {
    /**
     * Locks the open request of a session until `claimedUntil`. The outcome of the response later replaces the lock.
     * @returns false if another response has locked the request, or the session has changed or expired
     */
    async lock({ _id, timeline, carried }: Session, now: number): Promise<boolean> {
      const claimedUntil = now + requestLockMs;
      const { matchedCount } = await sessions.updateOne(
        {
          _id,
          timeline: { $size: timeline.length },
          expiresAt: { $gt: new Date(now) },
          // Matches a request without a lock too.
          'carried.wallet.claimedUntil': { $not: { $gt: now } },
        },
        { $set: { 'carried.wallet': { ...pendingIn(carried), claimedUntil } } },
      );
      return matchedCount === 1;
    },
  };
}
export type RequestLockStore = ReturnType<typeof createRequestLockStore>;
