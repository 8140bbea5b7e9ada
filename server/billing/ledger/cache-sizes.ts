/** The most entries of each cache of the billing code. The simulation sets small sizes, so that entries are evicted. */
export const cacheSizes = {
  /** Wallets whose last page is cached: about 30 MB. */
  heads: 20_000,
  /** Ids of entries that were written. */
  usedIds: 50_000,
  /** Accesses that were read before: about 10 MB. */
  accesses: 10_000,
};
