import { monotonicTime } from '../platform/clock.ts';
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
  let knownVersion: number | undefined;
  /** When the last read began. */
  let readAt = Number.NEGATIVE_INFINITY;
  /** The read that runs now. Simultaneous callers share it. */
  let reading: Promise<void> | undefined;

  async function update(): Promise<void> {
    const startedAt = uptime();
    const { version, ids } = await read();
    // The version counts the changes, and the list ends with the last one.
    const missed = knownVersion === undefined ? undefined : version - knownVersion;
    // The list is not enough at the first read, after too many changes, or if a restored database has a lower version.
    const isListEnough = missed !== undefined && missed >= 0 && missed <= ids.length;
    if (isListEnough) for (const id of ids.slice(ids.length - missed)) onChange(id);
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
