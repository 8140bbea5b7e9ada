import { keyed, sameText } from '../ids.ts';

/** How long a challenge can be answered. */
export const challengeLifetimeMs = 120_000;

/** By how much the clock of the process that issued it may be ahead. */
const skewMs = 10_000;
const timeBytes = 6;

/**
 * Challenges that need not be stored: the time of issue, then its MAC with what the challenge is bound to. Who accepts one must
 * change what it is bound to, or refuse times of issue that are not later: then each can be used once.
 * @param key HMAC key, at least 32 bytes
 */
export function createChallenges(key: Uint8Array, clock: { now(): number }) {
  function made(binding: readonly (string | number)[], issuedAt: number): string {
    const time = Buffer.alloc(timeBytes);
    time.writeUIntBE(issuedAt, 0, timeBytes);
    return Buffer.concat([time, keyed(key, ['webauthn challenge', issuedAt, ...binding])]).toString(
      'base64url',
    );
  }

  return {
    /** @returns a challenge of 38 bytes, base64url */
    issue: (binding: readonly (string | number)[]): string => made(binding, clock.now()),

    /** @returns when the challenge was issued, in ms since 1970; undefined where it is another's or has expired */
    check(binding: readonly (string | number)[], challenge: string): number | undefined {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length < timeBytes) return undefined;
      const issuedAt = bytes.readUIntBE(0, timeBytes);
      const age = clock.now() - issuedAt;
      const isOwn = sameText(challenge, made(binding, issuedAt));
      return isOwn && age > -skewMs && age < challengeLifetimeMs ? issuedAt : undefined;
    },
  };
}
