import { createBoundedMap } from '../platform/bounded-map.ts';

/** How long a found record is remembered, in milliseconds (design: caches). */
const lifetime = 2_000;
/** Whoever asks for one that is older has it read anew, and does not wait for it. */
const freshFor = 1_500;
const mostEntries = 10_000;

export interface ShortMemory<T> {
  /** `fresh` reads again, and remembers what it finds. */
  read(id: string, fresh: boolean): Promise<T | undefined>;
  forget(id: string): void;
}

/**
 * Remembers what `load` found for 2 s, never that it found nothing. What is asked for all the time is read anew
 * before it is forgotten, so that nobody waits for it. A read that was under way while its id was forgotten is
 * answered, but not remembered: it may be older than the change.
 * @param uptime milliseconds that only go forward
 */
export function createShortMemory<T>(
  load: (id: string) => Promise<T | undefined>,
  uptime: () => number = () => performance.now(),
): ShortMemory<T> {
  const entries = createBoundedMap<{ value: T; since: number; renewed?: boolean }>(mostEntries);
  let changes = 0;

  async function readAnew(id: string): Promise<T | undefined> {
    const [since, changesBefore] = [uptime(), changes];
    const value = await load(id);
    const isNewest = (entries.get(id)?.since ?? 0) <= since;
    if (value === undefined) entries.delete(id);
    else if (changes === changesBefore && isNewest) entries.set(id, { value, since });
    return value;
  }

  return {
    async read(id, fresh) {
      const known = entries.get(id);
      const age = known ? uptime() - known.since : lifetime;
      if (!known || fresh || age >= lifetime) return readAnew(id);
      if (age >= freshFor && !known.renewed) {
        known.renewed = true;
        readAnew(id).catch(() => undefined); // whoever asks once it is forgotten is told
      }
      return known.value;
    },

    forget(id) {
      changes += 1;
      entries.delete(id);
    },
  };
}
