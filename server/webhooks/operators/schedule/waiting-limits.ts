import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../platform/errors.ts';
import type { Delivery } from '../../delivery/delivery.ts';

/** How many deliveries of one key are sent again in a second, so that no receiver is overloaded. */
export const resentPerSecond = 10;
/** The most resends and samples of one key that wait to be sent. */
export const mostWaiting = 1_000;
/** The most tests of one partner that wait for their result in this process. Each test of a key that hangs waits 15 s. */
export const mostTests = 8;
/** How often a test reads whether its attempt has ended, in milliseconds: often at first, then less often. */
const firstPollMs = 50;
const longestPollMs = 500;

/**
 * Refuses further resends and samples of a key for which too many wait.
 * @param waiting how many wait already
 * @throws ApiError `rate_limited`
 */
export function requireRoom(keyId: string, waiting: number, added: number): void {
  const excess = waiting + added - mostWaiting;
  if (excess <= 0) return;
  const retryAfter = Math.ceil(excess / resentPerSecond);
  const description =
    `${waiting} resends and samples of API key ${keyId} wait already, of ${mostWaiting} at most. ` +
    `At most ${resentPerSecond} a second are sent: try again in ${retryAfter} s, or when the receiver answers`;
  throw new ApiError('rate_limited', { description, retryAfter });
}

/** Bounds the tests that wait for their result, by partner. */
export function createTestLimit() {
  const waiting = new Map<string, number>();
  /** @throws ApiError `rate_limited` if too many tests of the partner wait */
  return async function runTest<T>(partnerId: string, test: () => Promise<T>): Promise<T> {
    const count = waiting.get(partnerId) ?? 0;
    if (count >= mostTests) {
      const description = `${count} tests of this partner wait for an answer; try again when one of them has ended, in 15 s at most`;
      throw new ApiError('rate_limited', { description, retryAfter: 15 });
    }
    waiting.set(partnerId, count + 1);
    try {
      return await test();
    } finally {
      const left = (waiting.get(partnerId) ?? 1) - 1;
      if (left > 0) waiting.set(partnerId, left);
      else waiting.delete(partnerId);
    }
  };
}

/** Reads a delivery until it has ended, or until the time is over. @returns the delivery as it was read last */
export async function waitForEnd(
  read: () => Promise<Delivery>,
  hasEnded: (delivery: Delivery) => boolean,
  timeoutMs: number,
): Promise<Delivery> {
  const timeout = AbortSignal.timeout(timeoutMs);
  for (let pollMs = firstPollMs; ; pollMs = Math.min(longestPollMs, pollMs * 1.5)) {
    const delivery = await read();
    if (hasEnded(delivery) || timeout.aborted) return delivery;
    await sleep(pollMs);
  }
}
