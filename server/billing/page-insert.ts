import { isCommandRefused, isUnavailable } from '../platform/database/failures.ts';
import type { Head } from './heads.ts';
import type { LedgerPage } from './ledger-page.ts';
import type { Inserted, LedgerStore } from './ledger-store.ts';
import { fencePage } from './page-builder.ts';

/**
 * The final result of a page. `fenced`: it was not inserted and never will be. An error: it was refused, or its fate is
 * unknown.
 */
export type Fate = Inserted | 'fenced';

interface Settings {
  store: Pick<LedgerStore, 'insert' | 'page'>;
  /** Clears the cached last pages. Called first after a failed insert. */
  forgetHeads: () => void;
  /** Returns the time of a clock that never goes back, in milliseconds. */
  uptime: () => number;
  pause: (ms: number) => Promise<void>;
  /** How long pages with an unknown result are sent again, in milliseconds. */
  resendWithin: number;
}

/** A page with the head that it follows. */
interface Draft {
  page: LedgerPage;
  head: Head;
}

/** A page that is sent again because its fate was unknown. */
interface Resent extends Draft {
  fate: Fate | 'unknown';
  /** Whether the next try inserts a fence in place of the page. */
  isFence: boolean;
}

const resendAfterMs = 10;

/**
 * Inserts pages until the fate of each is known. After a lost reply, the same pages are sent again. The `attempt` of the existing
 * page tells whether it is ours. When the time is up, fence pages with the same numbers are inserted instead.
 */
export function createPageInsert({ store, forgetHeads, uptime, pause, resendWithin }: Settings) {
  /**
   * Returns the fate of a page after an insert. The page may exist although this insert was refused: an earlier one may
   * have succeeded.
   */
  async function fateOf({ page, isFence }: Resent, result: Inserted): Promise<Fate | 'unknown'> {
    if (result === 'inserted') return isFence ? 'fenced' : 'inserted';
    // A temporary refusal says nothing about the earlier insert.
    if (result instanceof Error) return isUnavailable(result) ? 'unknown' : result;
    const existing = await store.page(page.walletId, page.n);
    // The page may exist, but not yet on a majority of the members.
    if (!existing) return 'unknown';
    return existing.attempt === page.attempt ? 'inserted' : 'page exists';
  }

  /** Sends pages or their fences once, and sets the fate of each page that the results tell. */
  async function tryOnce(pages: readonly Resent[]): Promise<void> {
    const results = await store.insert(
      pages.map(({ page, head, isFence }) => (isFence ? fencePage(page, head) : page)),
    );
    await Promise.all(
      pages.map(async (each, index) => {
        const result = results[index];
        if (result !== undefined) each.fate = await fateOf(each, result);
        // An entry of the page exists already, so the page is unlikely to be inserted by another try.
        if (result === 'entry exists') each.isFence = true;
      }),
    );
  }

  /**
   * Sends pages of unknown fate again. The last try inserts fences in their place, so that the pages cannot appear later.
   * @param cause the error that is returned for pages whose fate stays unknown
   */
  async function resendUntilKnown(drafts: readonly Draft[], cause: unknown): Promise<Fate[]> {
    const resendUntil = uptime() + resendWithin;
    const pages = drafts.map((draft): Resent => ({ ...draft, fate: 'unknown', isFence: false }));
    const unknownPages = () => pages.filter(({ fate }) => fate === 'unknown');
    let isLastTry = false;
    while (!isLastTry && unknownPages().length > 0) {
      await pause(resendAfterMs);
      isLastTry = uptime() >= resendUntil;
      if (isLastTry) for (const each of unknownPages()) each.isFence = true;
      // A failed try tells nothing, because an earlier insert may have succeeded.
      await tryOnce(unknownPages()).catch(() => undefined);
    }
    return pages.map(({ fate }) => (fate === 'unknown' ? (cause as Error) : fate));
  }

  /** @returns the fate of each page, in the order of `drafts` */
  return async function insertPages(drafts: readonly Draft[]): Promise<Fate[]> {
    try {
      return await store.insert(drafts.map(({ page }) => page));
    } catch (error) {
      forgetHeads();
      return isCommandRefused(error) ? drafts.map(() => error as Error) : resendUntilKnown(drafts, error);
    }
  };
}
