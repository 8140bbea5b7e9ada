import { oneTimeUserLifetimeMs } from './enroll.ts';
import type { EnrollmentStore } from './enrollment-store.ts';
import type { User, UserStore } from './user-store.ts';

interface Dependencies {
  users: Pick<UserStore, 'keepUntil'>;
  enrollments: Pick<EnrollmentStore, 'keepUntil'>;
  /** Milliseconds after which no claim holds any more. */
  claimLifetime: number;
  clock: { now(): number };
}

/** Keeps users who cannot be recognised again for longer, because they have a passkey. Of other users it changes nothing. */
export function createKeepUser({ users, enrollments, claimLifetime, clock }: Dependencies) {
  async function keepUntil(userId: string, until: Date): Promise<void> {
    if (await users.keepUntil(userId, until)) await enrollments.keepUntil(userId, until);
  }

  return {
    /** When a user with a passkey goes: with the claims. Undefined for one who is kept anyway. */
    endOfClaims({ purgeAt, claims }: User): Date | undefined {
      if (!purgeAt) return undefined;
      const newest = Math.max(...Object.values(claims).map(({ evaluatedAt }) => evaluatedAt.getTime()));
      return new Date(Math.max(purgeAt.getTime(), newest + claimLifetime));
    },

    keepUntil,

    /** For a user whose last passkey was removed: sessions and codes under way still need them. */
    aDay: (userId: string): Promise<void> => keepUntil(userId, new Date(clock.now() + oneTimeUserLifetimeMs)),
  };
}
export type KeepUser = ReturnType<typeof createKeepUser>;
