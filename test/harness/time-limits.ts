import { availableParallelism, loadavg } from 'node:os';

/** Tests of a busy machine wait at most this many times longer, where the variable is not set. */
const largestOwn = 10;

/**
 * How many times longer tests may wait than on a quiet machine. Where nothing is given, it is the load of the machine for
 * each of its processors.
 * @throws Error for anything but a number from 1
 */
export function timeoutFactor(given: string | undefined, loadOfProcessor: number): number {
  if (!given) return Math.min(largestOwn, Math.max(1, loadOfProcessor));
  const factor = Number(given);
  if (!(factor >= 1 && Number.isFinite(factor)))
    throw new Error(`SVC_TEST_TIMEOUT_FACTOR must be a number from 1, not "${given}"`);
  return factor;
}

const factor = timeoutFactor(
  process.env['SVC_TEST_TIMEOUT_FACTOR'],
  (loadavg()[0] ?? 0) / availableParallelism(),
);
// The processes of a run share what was measured at its start.
process.env['SVC_TEST_TIMEOUT_FACTOR'] = String(factor);

/** The limit of a wait. @param ms what is enough on a machine that is not busy */
export const within = (ms: number): number => Math.ceil(ms * factor);

/** The limits of vitest, in milliseconds: of a test or a hook, and of `expect.poll`. */
export const limits = { test: within(60_000), poll: within(10_000) };
