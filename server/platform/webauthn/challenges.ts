import { keyed, sameText } from '../ids.ts';

/** How long a challenge can be answered. */
export const challengeLifetimeMs = 120_000;

/** How far the clock of the issuing process may be ahead. */
const skewMs = 10_000;
/** The length of the time of issue, which is in milliseconds since 1970. */
const timeBytes = 6;

/**
 * Makes challenges that need not be stored: the time of issue, then a MAC of this time and the binding. The binding is what a
 * challenge is valid for, such as a session. The caller makes a challenge usable only once. It changes the binding after a
 * use, or refuses challenges that were not issued after the last used one.
 * @param key HMAC key, at least 32 bytes
 */
export function createChallenges(key: Uint8Array, clock: { now(): number }) {
  function challengeOf(binding: readonly (string | number)[], issuedAt: number): string {
    const time = Buffer.alloc(timeBytes);
    time.writeUIntBE(issuedAt, 0, timeBytes);
    const mac = keyed(key, ['webauthn challenge', issuedAt, ...binding]);
    return Buffer.concat([time, mac]).toString('base64url');
  }

  return {
    /** @returns a challenge of 38 bytes, base64url */
    issue: (binding: readonly (string | number)[]): string => challengeOf(binding, clock.now()),

    /** @returns when the challenge was issued, in ms since 1970; undefined for another binding, or if it has expired */
    check(binding: readonly (string | number)[], challenge: string): number | undefined {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length < timeBytes) return undefined;
      const issuedAt = bytes.readUIntBE(0, timeBytes);
      const age = clock.now() - issuedAt;
      const isGenuine = sameText(challenge, challengeOf(binding, issuedAt));
      return isGenuine && age > -skewMs && age < challengeLifetimeMs ? issuedAt : undefined;
    },
  };
}
