import type { UserStore } from './user-store.ts';

interface Dependencies {
  users: Pick<UserStore, 'findWithOldClaims' | 'forgetClaims'>;
  /** Milliseconds after which no claim holds any more. */
  claimLifetime: number;
  clock: { now(): number };
}

/** Claims that held when a session began are still needed while it and its code live: 30 and 10 minutes. */
export const gracePeriodMs = 3_600_000;
const perSweep = 200;

/** Deletes claims that hold no more: the consent page says how long they are kept. Idempotent. */
export function createForgetting({ users, claimLifetime, clock }: Dependencies) {
  return async function forgetOldClaims(): Promise<void> {
    const before = new Date(clock.now() - claimLifetime - gracePeriodMs);
    for (const user of await users.findWithOldClaims(before, perSweep))
      await users.forgetClaims(user, before);
  };
}
