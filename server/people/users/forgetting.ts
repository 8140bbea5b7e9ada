import type { Read } from '../../platform/database/reads/joint-reads.ts';
import type { PeopleContext } from '../context.ts';
import type { KeptClaim } from '../enrollments/freshness.ts';
import type { User } from './user.ts';
import { userReads } from './user-store.ts';

/** Expired claims are kept a while: a session (30 minutes) and its code (10 minutes) may have begun with them. */
export const gracePeriodMs = 3_600_000;
const perSweep = 200;

/** When a claim is deleted: by its age, not before the end of a hold, and at the latest with its user. */
export function claimKeptUntil(
  { hold, purgeAt }: Pick<User, 'hold' | 'purgeAt'>,
  { evaluatedAt }: KeptClaim,
  claimLifetime: number,
): Date {
  const byAge = evaluatedAt.getTime() + claimLifetime + gracePeriodMs;
  const kept = Math.max(byAge, hold?.until.getTime() ?? 0);
  return new Date(Math.min(kept, purgeAt?.getTime() ?? Number.POSITIVE_INFINITY));
}

/** Deletes expired claims, because the consent page promises how long claims are kept. Idempotent. */
export function createForgetting({ users, claimLifetime, clock }: PeopleContext) {
  const oldBefore = (now: Date) => new Date(now.getTime() - claimLifetime - gracePeriodMs);

  return {
    /** The look of the sweep. */
    read(): Read {
      const now = new Date(clock.now());
      return userReads.withOldClaims(oldBefore(now), now);
    },

    async sweep(): Promise<void> {
      const now = new Date(clock.now());
      const before = oldBefore(now);
      for (const user of await users.findWithOldClaims(before, { now, limit: perSweep }))
        await users.forgetClaims(user, before);
    },
  };
}
