import { monotonicTime } from '../clock.ts';
import { nameOfFailure } from './failures.ts';

/** How long a failure is the answer to all callers, in milliseconds. It is short, so that its end is noticed soon. */
const failureLastsMs = 1_000;

/** Why the database accepts no writes at present; undefined if it does. `fresh`: a new write decides, and not a recent one. */
export type WriteProbe = (options?: { fresh: boolean }) => Promise<string | undefined>;

/**
 * Tests whether the database accepts writes. Callers share a recent result, because readiness probes are frequent.
 * @param write a small write that may be repeated
 * @param successLastsMs how long a success is the answer to all callers
 */
export function createWriteProbe(
  write: () => Promise<unknown>,
  { successLastsMs, uptime = monotonicTime }: { successLastsMs: number; uptime?: () => number },
): WriteProbe {
  let last: { until: number; fault: string | undefined } | undefined;
  let inFlight: Promise<string | undefined> | undefined;

  async function tryWrite(): Promise<string | undefined> {
    const noFault = () => undefined;
    const fault = await write().then(noFault, nameOfFailure);
    last = { until: uptime() + (fault === undefined ? successLastsMs : failureLastsMs), fault };
    inFlight = undefined;
    return fault;
  }

  return async ({ fresh } = { fresh: false }) => {
    if (!fresh && last && uptime() < last.until) return last.fault;
    inFlight ??= tryWrite();
    return inFlight;
  };
}
