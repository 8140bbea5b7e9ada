import { isTurnedAway, isUnavailable } from '../platform/database/failures.ts';
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
}

/** A page with the head that it follows. */
interface Draft {
  page: LedgerPage;
  head: Head;
}

/** How long pages with an unknown result are sent again, in milliseconds. */
const resendWindowMs = 1_500;
const resendAfterMs = 10;

/**
 * Inserts pages until the fate of each is known. After a lost reply, the same pages are sent again. The `attempt` of the existing
 * page tells whether it is ours. When the time is up, fence pages with the same numbers are inserted instead.
 */
export function createPageInsert({ store, forgetHeads, uptime, pause }: Settings) {
  /**
   * Returns the fate of a page after an insert. The page may exist although this insert was refused: an earlier one may
   * have succeeded.
   */
  async function fateOf({ page }: Draft, result: Inserted, fenced: boolean): Promise<Fate | 'unknown'> {
    if (result === 'inserted') return fenced ? 'fenced' : 'inserted';
    // A temporary refusal says nothing about the earlier insert.
    if (result instanceof Error) return isUnavailable(result) ? 'unknown' : result;
    const existing = await store.page(page.walletId, page.n);
    // The page may exist, but not yet on a majority of the members.
    if (!existing) return 'unknown';
    return existing.attempt === page.attempt ? 'inserted' : 'page exists';
  }

  async function findOut(drafts: readonly Draft[], cause: unknown): Promise<Fate[]> {
    const until = uptime() + resendWindowMs;
    const fates: (Fate | 'unknown')[] = drafts.map(() => 'unknown');
    const open = () => [...drafts.entries()].filter(([n]) => fates[n] === 'unknown');
    /** Pages with an id that exists already. Their insert is unlikely to succeed, so the next try sends a fence. */
    const hopeless = new Set<number>();
    for (let last = false; open().length > 0 && !last; ) {
      await pause(resendAfterMs);
      last = uptime() >= until;
      const tried = open().map(([n, draft]) => ({ n, draft, fenced: last || hopeless.has(n) }));
      try {
        const results = await store.insert(
          tried.map(({ draft: { page, head }, fenced }) => (fenced ? fencePage(page, head) : page)),
        );
        await Promise.all(
          tried.map(async ({ n, draft, fenced }, k) => {
            const result = results[k];
            if (result !== undefined) fates[n] = await fateOf(draft, result, fenced);
            if (result === 'entry exists') hopeless.add(n);
          }),
        );
      } catch {
        // An earlier insert may have succeeded. Only a reply or a fence tells.
      }
    }
    return fates.map((fate) => (fate === 'unknown' ? (cause as Error) : fate));
  }

  /** @returns the fate of each page, in the order of `drafts` */
  return async function insertPages(drafts: readonly Draft[]): Promise<Fate[]> {
    try {
      return await store.insert(drafts.map(({ page }) => page));
    } catch (error) {
      forgetHeads();
      return isTurnedAway(error) ? drafts.map(() => error as Error) : findOut(drafts, error);
    }
  };
}
