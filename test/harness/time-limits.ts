import { availableParallelism, loadavg } from 'node:os';

/** The largest factor that is computed from the load of the machine. */
const largestOwn = 10;

/**
 * The factor by which tests wait longer than on a quiet machine. By default it is the machine's load per processor.
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
// All processes of a run share the factor that was measured at its start.
process.env['SVC_TEST_TIMEOUT_FACTOR'] = String(factor);

/** The limit of a wait. @param ms a sufficient time on a machine that is not busy */
export const within = (ms: number): number => Math.ceil(ms * factor);

/** The limits of vitest in milliseconds, for a test or hook, and for `expect.poll`. */
export const limits = { test: within(60_000), poll: within(10_000) };
