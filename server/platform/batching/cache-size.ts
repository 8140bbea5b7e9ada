/**
 * The options of an LRU cache for at most `entries` entries. With its option `max`, a cache allocates all entries when it
 * is made, and the caches of a process would take 30 ms of its start.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
