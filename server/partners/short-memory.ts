import { createBoundedMap } from '../platform/bounded-map.ts';

/** How long a found record is remembered, in milliseconds (design: caches). */
const lifetime = 2_000;
const mostEntries = 10_000;

export interface ShortMemory<T> {
  /** `fresh` reads again, and remembers what it finds. */
  read(id: string, fresh: boolean): Promise<T | undefined>;
  forget(id: string): void;
}

/**
 * Remembers what `load` found for 2 s, never that it found nothing. A read that was under way while its id
 * was forgotten is answered, but not remembered: it may be older than the change.
 * @param uptime milliseconds that only go forward
 */
export function createShortMemory<T>(
  load: (id: string) => Promise<T | undefined>,
  uptime: () => number = () => performance.now(),
): ShortMemory<T> {
  const entries = createBoundedMap<{ value: T; until: number }>(mostEntries);
  let changes = 0;

  function remember(id: string, value: T): void {
    entries.set(id, { value, until: uptime() + lifetime });
  }

  return {
    async read(id, fresh) {
      const known = entries.get(id);
      if (known && !fresh && known.until > uptime()) return known.value;
      const changesBefore = changes;
      const value = await load(id);
      if (value === undefined) entries.delete(id);
      else if (changes === changesBefore) remember(id, value);
      return value;
    },

    forget(id) {
      changes += 1;
      entries.delete(id);
    },
  };
}
