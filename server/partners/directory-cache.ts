import { LRUCache } from 'lru-cache';
import { monotonicTime } from '../platform/clock.ts';

/** The time for which a record is cached if no change of it becomes known, in milliseconds. */
const lifetimeMs = 30_000;
const mostEntries = 10_000;

export interface DirectoryCache<T> {
  /** Returns a record. With `fresh`, the record is loaded again and cached. */
  read(id: string, fresh: boolean): Promise<T | undefined>;
  /** Drops one entry, or all entries if no id is given. */
  forget(id?: string): void;
}

/**
 * Caches the records that `load` finds, but not that a record is missing. If entries are dropped while a record is loaded, the
 * record is returned but not cached, because it may be older than the change.
 * @param uptime returns the time of a clock that never goes back, in milliseconds
 */
export function createDirectoryCache<T>(
  load: (id: string) => Promise<T | undefined>,
  uptime: () => number = monotonicTime,
): DirectoryCache<T> {
  const entries = new LRUCache<string, { value: T; since: number }>({ max: mostEntries });
  let changes = 0;

  return {
    async read(id, fresh) {
      const known = entries.get(id);
      if (known && !fresh && uptime() - known.since < lifetimeMs) return known.value;
      const [since, changesBefore] = [uptime(), changes];
      const value = await load(id);
      const isNewest = (entries.get(id)?.since ?? 0) <= since;
      if (value === undefined) entries.delete(id);
      else if (changes === changesBefore && isNewest) entries.set(id, { value, since });
      return value;
    },

    forget(id) {
      changes += 1;
      if (id === undefined) entries.clear();
      else entries.delete(id);
    },
  };
}
