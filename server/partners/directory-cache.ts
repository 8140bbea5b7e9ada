import { LRUCache } from 'lru-cache';
import { monotonicTime } from '../platform/clock.ts';

/** Milliseconds after which a record is read again although no change of it is known. */
const lifetimeMs = 30_000;
const mostEntries = 10_000;

export interface DirectoryCache<T> {
  /** `fresh` reads again, and remembers what it finds. */
  read(id: string, fresh: boolean): Promise<T | undefined>;
  /** Forgets one entry, or all. */
  forget(id?: string): void;
}

/**
 * Caches what `load` found, never that it found nothing. A read that was under way while an id was forgotten is answered, but not
 * cached: it may be older than the change.
 * @param uptime milliseconds that only go forward
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
