import { oneTimeUserLifetimeMs } from './enroll.ts';
import type { EnrollmentStore } from './enrollment-store.ts';
import type { User, UserStore } from './user-store.ts';

interface Dependencies {
  users: Pick<UserStore, 'keepUntil'>;
  enrollments: Pick<EnrollmentStore, 'keepUntil'>;
  /** The longest lifetime of a claim, in milliseconds. */
  claimLifetime: number;
  clock: { now(): number };
}

/** Keeps one-time users longer while they have a passkey. Changes nothing for users who are kept anyway. */
export function createKeepUser({ users, enrollments, claimLifetime, clock }: Dependencies) {
  async function keepUntil(userId: string, until: Date): Promise<void> {
    if (await users.keepUntil(userId, until)) await enrollments.keepUntil(userId, until);
  }

  return {
    /** When a user with a passkey is deleted: together with the claims. Undefined for a user who is kept anyway. */
    endOfClaims({ purgeAt, claims }: User): Date | undefined {
      if (!purgeAt) return undefined;
      const newest = Math.max(...Object.values(claims).map(({ evaluatedAt }) => evaluatedAt.getTime()));
      return new Date(Math.max(purgeAt.getTime(), newest + claimLifetime));
    },

    keepUntil,

    /** Keeps a user whose last passkey was removed for one more day, because open sessions and codes still need them. */
    aDay: (userId: string): Promise<void> => keepUntil(userId, new Date(clock.now() + oneTimeUserLifetimeMs)),
  };
}
export type KeepUser = ReturnType<typeof createKeepUser>;
