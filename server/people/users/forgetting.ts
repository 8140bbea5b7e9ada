import type { UserStore } from './user-store.ts';

interface Dependencies {
  users: Pick<UserStore, 'findWithOldClaims' | 'forgetClaims'>;
  /** The longest lifetime of a claim, in milliseconds. */
  claimLifetime: number;
  clock: { now(): number };
}

/** Expired claims are kept a while: a session (30 minutes) and its code (10 minutes) may have begun with them. */
export const gracePeriodMs = 3_600_000;
const perSweep = 200;

/** Deletes expired claims, because the consent page promises how long claims are kept. Idempotent. */
export function createForgetting({ users, claimLifetime, clock }: Dependencies) {
  return async function forgetOldClaims(): Promise<void> {
    const now = new Date(clock.now());
    const before = new Date(now.getTime() - claimLifetime - gracePeriodMs);
    for (const user of await users.findWithOldClaims(before, { now, limit: perSweep }))
      await users.forgetClaims(user, before);
  };
}
