import { monotonicTime } from '../platform/clock.ts';
import type { ChangeStore } from './change-store.ts';

/** Milliseconds for which what was read of the changes counts. */
export const lifetimeMs = 2_000;
/** What was read earlier is read again in the background. Milliseconds. */
const freshForMs = 1_000;

interface Settings {
  read: ChangeStore['read'];
  /** Called for each partner and client that has changed; without an id where any may have. */
  onChange: (id?: string) => void;
  /** Milliseconds that only go forward. */
  uptime?: () => number;
}

/** Follows the changes that other processes make, while callers ask for them. */
export function createChangeWatch({ read, onChange, uptime = monotonicTime }: Settings) {
  let known: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function update(): Promise<void> {
    const startedAt = uptime();
    const { version, ids } = await read();
    const missed = version - (known ?? Number.NEGATIVE_INFINITY);
    // A restored database counts less than before.
    if (missed < 0 || missed > ids.length) onChange();
    else for (const id of ids.slice(ids.length - missed)) onChange(id);
    known = version;
    readAt = startedAt;
  }

  /**
   * Resolves when `onChange` was called for all changes that are older than 2 s.
   * @throws what `read` throws
   */
  return async function upToDate(): Promise<void> {
    const age = uptime() - readAt;
    if (age < freshForMs) return;
    reading ??= update().finally(() => {
      reading = undefined;
    });
    if (age >= lifetimeMs) return reading;
    // If it fails, the next caller after 2 s gets the error.
    reading.catch(() => undefined);
  };
}
