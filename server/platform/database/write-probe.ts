import { monotonicTime } from '../clock.ts';
import { nameOfFailure } from './failures.ts';

/** How long one result is used for all callers, in milliseconds. A failure is tried again sooner, to notice its end. */
const freshForMs = { success: 5_000, failure: 1_000 };

/** Why the database accepts no writes at present; undefined if it does. */
export type WriteProbe = () => Promise<string | undefined>;

/**
 * Tests whether the database accepts writes. Callers share a recent result, because readiness probes are frequent.
 * @param write a small write that may be repeated
 */
export function createWriteProbe(write: () => Promise<unknown>, uptime = monotonicTime): WriteProbe {
  let last: { until: number; fault: string | undefined } | undefined;
  let inFlight: Promise<string | undefined> | undefined;

  async function tryWrite(): Promise<string | undefined> {
    const noFault = () => undefined;
    const fault = await write().then(noFault, nameOfFailure);
    last = { until: uptime() + (fault === undefined ? freshForMs.success : freshForMs.failure), fault };
    inFlight = undefined;
    return fault;
  }

  return async () => {
    if (last && uptime() < last.until) return last.fault;
    inFlight ??= tryWrite();
    return inFlight;
  };
}
