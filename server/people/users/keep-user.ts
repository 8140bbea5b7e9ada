import type { PeopleContext } from '../context.ts';
import { oneTimeUserLifetimeMs } from '../enrollments/enroll.ts';
import type { User } from './user-store.ts';

/**
 * Keeps one-time users for longer while they have a passkey. A one-time user cannot be recognised again by the source,
 * and is deleted at `purgeAt`. All other users have no `purgeAt`, and nothing is changed for them.
 */
export function createKeepUser({ users, enrollments, claimLifetime, clock }: PeopleContext) {
  /** Changes when a one-time user and their enrollments are deleted. */
  async function keepUntil(userId: string, until: Date): Promise<void> {
    if (await users.keepUntil(userId, until)) await enrollments.keepUntil(userId, until);
  }

  return {
    /**
     * When a one-time user with a passkey is to be deleted: when the newest claim expires, because a passkey serves to
     * return with fresh claims. Undefined for a user who is not a one-time user.
     */
    endWithPasskey({ purgeAt, claims }: User): Date | undefined {
      if (!purgeAt) return undefined;
      const newestClaimAt = Math.max(
        ...Object.values(claims).map(({ evaluatedAt }) => evaluatedAt.getTime()),
      );
      const lastClaimExpiresAt = newestClaimAt + claimLifetime;
      // Never earlier than without a passkey. A user without claims has no newest one (-Infinity).
      return new Date(Math.max(purgeAt.getTime(), lastClaimExpiresAt));
    },

    keepUntil,

    /**
     * The last passkey of a user is removed. A one-time user is kept for one more day, as a new one is, because open
     * sessions and codes still need the user.
     */
    keepOneDay: (userId: string): Promise<void> =>
      keepUntil(userId, new Date(clock.now() + oneTimeUserLifetimeMs)),
  };
}
