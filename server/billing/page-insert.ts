import { isTurnedAway, isUnavailable } from '../platform/database/failures.ts';
import type { Head } from './heads.ts';
import type { LedgerPage } from './ledger-page.ts';
import type { Inserted, LedgerStore } from './ledger-store.ts';
import { fencePage } from './page-builder.ts';

/** The final result of a page. After `fenced` it can never stand. An error: it was refused, or its fate is unknown. */
export type Fate = Inserted | 'fenced';

interface Settings {
  store: Pick<LedgerStore, 'insert' | 'page'>;
  /** Called before anything else after a failed insert. */
  forgetHeads: () => void;
  /** Milliseconds; only ever goes forward. */
  uptime: () => number;
  pause: (ms: number) => Promise<void>;
}

/** A page with the head that it was built on. */
interface Draft {
  page: LedgerPage;
  head: Head;
}

/** Milliseconds in which pages with an unknown result are sent again. */
const resendWindowMs = 1_500;
const resendAfterMs = 10;

/**
 * Inserts pages until the fate of each is known. After a lost reply the same pages are sent again, and their `attempt` tells
 * whether it is ours that stands. When the time is up, a fence takes their place.
 */
export function createPageInsert({ store, forgetHeads, uptime, pause }: Settings) {
  /** Our page may exist although the insert was refused, because an earlier insert succeeded. */
  async function fateOf({ page }: Draft, result: Inserted, fenced: boolean): Promise<Fate | 'unknown'> {
    if (result === 'inserted') return fenced ? 'fenced' : 'inserted';
    // A refusal for now says nothing about the earlier insert.
    if (result instanceof Error) return isUnavailable(result) ? 'unknown' : result;
    const existing = await store.page(page.walletId, page.n);
    // It may exist without a majority.
    if (!existing) return 'unknown';
    return existing.attempt === page.attempt ? 'inserted' : 'page exists';
  }

  async function findOut(drafts: readonly Draft[], cause: unknown): Promise<Fate[]> {
    const until = uptime() + resendWindowMs;
    const fates: (Fate | 'unknown')[] = drafts.map(() => 'unknown');
    const open = () => [...drafts.entries()].filter(([n]) => fates[n] === 'unknown');
    /** Pages whose insert is unlikely to succeed, because an id of theirs exists: a fence decides immediately. */
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
        // An earlier insert may have succeeded. Only a reply or a fence decides.
      }
    }
    return fates.map((fate) => (fate === 'unknown' ? (cause as Error) : fate));
  }

  /** @returns the fate of each page, in their order */
  return async function insertPages(drafts: readonly Draft[]): Promise<Fate[]> {
    try {
      return await store.insert(drafts.map(({ page }) => page));
    } catch (error) {
      forgetHeads();
      return isTurnedAway(error) ? drafts.map(() => error as Error) : findOut(drafts, error);
    }
  };
}
