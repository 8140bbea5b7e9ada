/** Most entries of each cache of the money core. The simulation runs it with tiny ones, which evict. */
export const cacheSizes = {
  /** Wallets whose last page is known: some 30 MB. */
  heads: 20_000,
  /** Entries that were written, by their ids. */
  usedIds: 50_000,
  /** Accesses that were read before: some 10 MB. */
  accesses: 10_000,
};
