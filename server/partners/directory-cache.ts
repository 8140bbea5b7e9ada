import { LRUCache } from 'lru-cache';
import { monotonicTime } from '../platform/clock.ts';

/** Milliseconds for which a record is cached. */
export const lifetimeMs = 2_000;
/** Records in use that are older are refreshed in the background. Milliseconds. */
const freshForMs = 1_000;
const mostEntries = 10_000;

export interface DirectoryCache<T> {
  /** `fresh` reads again, and remembers what it finds. */
  read(id: string, fresh: boolean): Promise<T | undefined>;
  forget(id: string): void;
}

interface Settings<T> {
  /** As `load`, for what no reader waits for. */
  refresh?: (id: string) => Promise<T | undefined>;
  /** Milliseconds that only go forward. */
  uptime?: () => number;
}

/**
 * Caches what `load` found for 2 s, never that it found nothing. Entries in use are refreshed in the background before they
 * expire. A read that was under way while its id was forgotten is answered, but not cached: it may be older than the change.
 */
export function createDirectoryCache<T>(
  load: (id: string) => Promise<T | undefined>,
  { refresh = load, uptime = monotonicTime }: Settings<T> = {},
): DirectoryCache<T> {
  const entries = new LRUCache<string, { value: T; since: number; renewed?: boolean }>({ max: mostEntries });
  let changes = 0;

  async function update(id: string, from: typeof load): Promise<T | undefined> {
    const [since, changesBefore] = [uptime(), changes];
    const value = await from(id);
    const isNewest = (entries.get(id)?.since ?? 0) <= since;
    if (value === undefined) entries.delete(id);
    else if (changes === changesBefore && isNewest) entries.set(id, { value, since });
    return value;
  }

  return {
    async read(id, fresh) {
      const known = entries.get(id);
      const age = known ? uptime() - known.since : lifetimeMs;
      if (!known || fresh || age >= lifetimeMs) return update(id, load);
      if (age >= freshForMs && !known.renewed) {
        known.renewed = true;
        // If it fails, the entry expires, and the next reader gets the error.
        update(id, refresh).catch(() => undefined);
      }
      return known.value;
    },

    forget(id) {
      changes += 1;
      entries.delete(id);
    },
  };
}
