import { isCommandRefused, isUnavailable } from '../../platform/database/failures.ts';
import type { Head } from './heads.ts';
import type { LedgerPage } from './ledger-page.ts';
import type { InsertResult, LedgerStore } from './ledger-store.ts';
import { fencePage } from './page-builder.ts';

/**
 * The result of a page after all tries. `fenced`: the page is not in the ledger and never will be, because a fence page has
 * taken its number. An error: the database has refused the page, or could not tell the result in time.
 */
export type PageResult = InsertResult | 'fenced';

export interface InsertSettings {
  store: Pick<LedgerStore, 'insert' | 'page'>;
  /** Clears the cached last pages. If the database has lost one of them, a page after it would leave a gap. */
  forgetHeads: () => void;
  /** Returns the time of a clock that never goes back, in milliseconds. */
  uptime: () => number;
  /** Waits for some milliseconds between two tries. */
  pause: (ms: number) => Promise<void>;
  /** How long pages with an unknown result are sent again, in milliseconds. */
  resendWithin: number;
}

/** A page with the last page of the wallet, which it follows. */
interface Draft {
  page: LedgerPage;
  head: Head;
}

/** A page that is sent again because no reply told its result. */
interface Resent extends Draft {
  result: PageResult | 'unknown';
  /** Whether the next try sends a fence page in place of the page. */
  isFence: boolean;
}

const resendAfterMs = 10;

/**
 * Inserts pages, and finds out the result of each page even if a reply is lost. It then sends the same page again. If a page with
 * its number exists, the random `attempt` tells whether it is the same page.
 *
 * After `resendWithin`, it sends a fence page with the same number instead. The database accepts only one page of a number.
 * So if the fence is inserted, a delayed copy of the page cannot be.
 */
export function createPageInsert({ store, forgetHeads, uptime, pause, resendWithin }: InsertSettings) {
  /** Returns the result of a page after another try. A page that exists may be this one, inserted by an earlier try. */
  async function resultOf({ page, isFence }: Resent, result: InsertResult): Promise<PageResult | 'unknown'> {
    if (result === 'inserted') return isFence ? 'fenced' : 'inserted';
    // A temporary refusal, for example because the disk is full, says nothing about the earlier tries.
    if (result instanceof Error && isUnavailable(result)) return 'unknown';
    if (result instanceof Error) return result;
    const existing = await store.page(page.walletId, page.n);
    // The page may exist, but not yet on a majority of the members.
    if (!existing) return 'unknown';
    return existing.attempt === page.attempt ? 'inserted' : 'page exists';
  }

  /** Sends each page or its fence once, and updates its `result`. */
  async function tryOnce(pages: readonly Resent[]): Promise<void> {
    const results = await store.insert(
      pages.map(({ page, head, isFence }) => (isFence ? fencePage(page, head) : page)),
    );
    await Promise.all(
      pages.map(async (resent, index) => {
        const result = results[index];
        if (result !== undefined) resent.result = await resultOf(resent, result);
        // Another page has an entry of this page, so the database would refuse this page again. A fence has no such entry.
        if (result === 'entry exists') resent.isFence = true;
      }),
    );
  }

  /**
   * Sends pages again until their results are known. The last try sends fences, so that the pages cannot appear later.
   * @param cause the error that is returned for pages whose result stays unknown
   */
  async function resendUntilKnown(drafts: readonly Draft[], cause: unknown): Promise<PageResult[]> {
    const resendUntil = uptime() + resendWithin;
    const pages = drafts.map((draft): Resent => ({ ...draft, result: 'unknown', isFence: false }));
    const unknownPages = () => pages.filter(({ result }) => result === 'unknown');
    let isLastTry = false;
    while (!isLastTry && unknownPages().length > 0) {
      await pause(resendAfterMs);
      isLastTry = uptime() >= resendUntil;
      if (isLastTry) for (const page of unknownPages()) page.isFence = true;
      // If the try fails as a whole, the results stay unknown.
      await tryOnce(unknownPages()).catch(() => undefined);
    }
    return pages.map(({ result }) => (result === 'unknown' ? (cause as Error) : result));
  }

  /** @returns the result of each page, in the order of `drafts` */
  return async function insertPages(drafts: readonly Draft[]): Promise<PageResult[]> {
    try {
      return await store.insert(drafts.map(({ page }) => page));
    } catch (error) {
      forgetHeads();
      // The database has refused the command as a whole, so no page can be in the ledger.
      if (isCommandRefused(error)) return drafts.map(() => error as Error);
      return resendUntilKnown(drafts, error);
    }
  };
}
