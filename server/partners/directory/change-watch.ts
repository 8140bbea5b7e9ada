import { monotonicTime } from '../../platform/clock.ts';
import type { ChangeStore } from './change-store.ts';

/** After this time since the last read, in milliseconds, a caller waits for another read. */
export const lifetimeMs = 2_000;
/** After this time since the last read, in milliseconds, another read begins in the background. */
const freshForMs = 1_000;

interface Settings {
  read: ChangeStore['read'];
  /** Called for each partner and client that has changed. Called without an id if any of them may have changed. */
  onChange: (id?: string) => void;
  /** Returns the time of a clock that never goes back, in milliseconds. */
  uptime?: () => number;
}

/** Reports the changes that other processes make. Reads them only when a caller asks. */
export function createChangeWatch({ read, onChange, uptime = monotonicTime }: Settings) {
  /** The version at the last read. Before the first read, it is lower than every version. */
  let knownVersion = Number.NEGATIVE_INFINITY;
  /** When the last read began. */
  let readAt = Number.NEGATIVE_INFINITY;
  /** The read that runs now. Simultaneous callers share it. */
  let reading: Promise<void> | undefined;

  async function update(): Promise<void> {
    const startedAt = uptime();
    const { version, ids } = await read();
    // The version counts all changes. `ids` lists the last ones, with the newest at the end.
    const missed = version - knownVersion;
    // False at the first read, after too many changes, and for a restored database, whose version can be lower.
    const areListed = missed >= 0 && missed <= ids.length;
    if (areListed) for (const id of ids.slice(ids.length - missed)) onChange(id);
    else onChange();
    knownVersion = version;
    readAt = startedAt;
  }

  /**
   * Resolves after `onChange` was called for all changes that are older than 2 s.
   * @throws what `read` throws
   */
  return async function catchUp(): Promise<void> {
    const age = uptime() - readAt;
    if (age < freshForMs) return;
    reading ??= update().finally(() => {
      reading = undefined;
    });
    if (age >= lifetimeMs) return reading;
    // The last read is not too old, so this caller does not wait. If the read in the background fails, a later caller reads again.
    reading.catch(() => undefined);
  };
}
