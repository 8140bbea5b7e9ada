/** A Map of at most `most` entries: beyond that, what was set longest ago is forgotten. */
export function createBoundedMap<V>(most: number) {
  // Maps keep the order of insertion: the first one is the oldest.
  const entries = new Map<string, V>();
  return {
    get: (key: string): V | undefined => entries.get(key),
    set(key: string, value: V): void {
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
    delete(key: string): void {
      entries.delete(key);
    },
  };
}
