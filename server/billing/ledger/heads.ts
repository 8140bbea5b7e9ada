import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/batching/cache-size.ts';
import { requireFound, unavailable } from '../../platform/errors.ts';
import { cacheSizes } from './cache-sizes.ts';
import { type LedgerPage, pageVersion } from './ledger-page.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { WalletState } from './wallet-rules.ts';

/** The last page of a wallet, as far as this process knows. The next page follows it. */
export interface Head {
  n: number;
  at: Date;
  digest: string;
  state: WalletState;
  /** This page was the last one at this time or later. In milliseconds of the process's monotonic clock. */
  asOf: number;
}

/**
 * Caches the last page of each wallet. A page is cached only after an acknowledged insert of this process or a majority read.
 *
 * Any failure clears the cache, because the database may have lost a cached page. A page that follows a lost page would leave a
 * gap in the numbers, and no index prevents a gap.
 */
export function createHeads(store: Pick<LedgerStore, 'head'>, uptime: () => number) {
  const heads = new LRUCache<string, Head>(atMost(cacheSizes.heads));

  return {
    get: (walletId: string): Head | undefined => heads.get(walletId),

    /** Caches a page. @param asOf when the insert or the read of the page began */
    set(page: Pick<LedgerPage, 'walletId' | 'n' | 'at' | 'digest' | 'state'>, asOf: number): Head {
      const { n, at, digest, state } = page;
      const head = { n, at, digest, state, asOf };
      heads.set(page.walletId, head);
      return head;
    },

    /**
     * Reads the last page from the database.
     * @throws ApiError `not_found` if the wallet was never opened; `service_unavailable` if a newer build has written the page
     */
    async load(walletId: string): Promise<Head> {
      const asOf = uptime();
      const page = requireFound(await store.head(walletId), `No wallet ${walletId}`);
      if (page.version > pageVersion) {
        throw unavailable(new Error(`a newer build has written page ${page._id}: version ${page.version}`));
      }
      return this.set(page, asOf);
    },

    delete: (walletId: string): void => void heads.delete(walletId),

    /** Clears the cache. Call this when a write failed or the database's primary has changed. */
    clear: (): void => heads.clear(),
  };
}
export type Heads = ReturnType<typeof createHeads>;
