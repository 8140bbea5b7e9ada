import { monotonicTime } from '../platform/clock.ts';
import type { ChangeStore } from './change-store.ts';

/** The time for which the known changes may be used without another read, in milliseconds. */
export const lifetimeMs = 2_000;
/** Changes that were read longer ago than this are read again in the background. In milliseconds. */
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
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function update(): Promise<void> {
    const startedAt = uptime();
    const { version, ids } = await read();
    const missed = knownVersion === undefined ? undefined : version - knownVersion;
    // The list is not enough at the first read, after too many changes, or if a restored database has a lower version.
    const isListEnough = missed !== undefined && missed >= 0 && missed <= ids.length;
    if (!isListEnough) onChange();
    else for (const id of ids.slice(ids.length - missed)) onChange(id);
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
    // The known changes may still be used, so this read runs in the background. If it fails, a later caller reads again.
    reading.catch(() => undefined);
  };
}
