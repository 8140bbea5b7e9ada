import { monotonicTime } from '../clock.ts';
import { nameOfFailure } from './failures.ts';

/** How long one result is used for all callers, in milliseconds. */
const freshFor = { success: 5_000, failure: 1_000 };

/** Why the database accepts no writes at present; undefined if it does. */
export type WriteProbe = () => Promise<string | undefined>;

/**
 * Tests whether the database accepts writes, at most once a second, because readiness probes are frequent.
 * @param write a small write that may be repeated
 */
export function createWriteProbe(write: () => Promise<unknown>, uptime = monotonicTime): WriteProbe {
  let last: { until: number; fault: string | undefined } | undefined;
  let inFlight: Promise<string | undefined> | undefined;

  async function tryWrite(): Promise<string | undefined> {
    const fault = await write().then(() => undefined, nameOfFailure);
    last = { until: uptime() + (fault === undefined ? freshFor.success : freshFor.failure), fault };
    inFlight = undefined;
    return fault;
  }

  return async () => {
    if (last && uptime() < last.until) return last.fault;
    inFlight ??= tryWrite();
    return inFlight;
  };
}
