import { monotonicTime } from '../clock.ts';
import { nameOfFailure } from './failures.ts';

/** Milliseconds for which one result answers all who ask. */
const freshFor = { success: 5_000, failure: 1_000 };

/** Why the database took no write a moment ago; undefined where it took one. */
export type WriteProbe = () => Promise<string | undefined>;

/**
 * Tries whether the database takes writes, at most once a second: probes are frequent, and come to every listener.
 * @param write a small write that may be repeated
 */
export function createWriteProbe(write: () => Promise<unknown>, uptime = monotonicTime): WriteProbe {
  let last: { until: number; fault: string | undefined } | undefined;
  let underway: Promise<string | undefined> | undefined;

  async function tryWrite(): Promise<string | undefined> {
    const fault = await write().then(() => undefined, nameOfFailure);
    last = { until: uptime() + (fault === undefined ? freshFor.success : freshFor.failure), fault };
    underway = undefined;
    return fault;
  }

  return async () => {
    if (last && uptime() < last.until) return last.fault;
    underway ??= tryWrite();
    return underway;
  };
}
