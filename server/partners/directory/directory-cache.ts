import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/batching/cache-size.ts';
import { monotonicTime } from '../../platform/clock.ts';

/** A record is loaded again after this time, in milliseconds, even if no change of it was reported. */
const lifetimeMs = 30_000;
const mostEntries = 10_000;

/**
 * Caches the records that `load` finds, but not that a record is missing. If `forget` is called while a record is loaded, the
 * record is returned but not cached, because it may be older than the change that `forget` reports.
 * @param uptime returns the time of a clock that never goes back, in milliseconds
 */
export function createDirectoryCache<T>(
  load: (id: string) => Promise<T | undefined>,
  uptime: () => number = monotonicTime,
) {
  const entries = new LRUCache<string, { value: T; loadedAt: number }>(atMost(mostEntries));
  let forgetCalls = 0;

  return {
    /** Returns a record. With `fresh`, the record is loaded again and cached. */
    async read(id: string, fresh: boolean): Promise<T | undefined> {
      const cached = entries.get(id);
      if (cached && !fresh && uptime() - cached.loadedAt < lifetimeMs) return cached.value;
      const loadedAt = uptime();
      const forgetCallsBefore = forgetCalls;
      const value = await load(id);
      const mayBeOutdated = forgetCalls !== forgetCallsBefore;
      // A load that began later may have ended before this one. Its record is newer, and stays.
      const hasNewer = (entries.get(id)?.loadedAt ?? 0) > loadedAt;
      if (value === undefined) entries.delete(id);
      else if (!mayBeOutdated && !hasNewer) entries.set(id, { value, loadedAt });
      return value;
    },

    /** Drops one entry, or all entries if no id is given. */
    forget(id?: string): void {
      forgetCalls += 1;
      if (id === undefined) entries.clear();
      else entries.delete(id);
    },
  };
}
