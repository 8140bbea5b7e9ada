import { LRUCache } from 'lru-cache';
import type { DeadlineSignal } from '../../contracts/charge.ts';
import { createBatchWindow } from '../platform/batching/batch-window.ts';
import { groupBy } from '../platform/batching/group-by.ts';
import type { Clock } from '../platform/clock.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { unavailable } from '../platform/errors.ts';
import { cacheSizes } from './cache-sizes.ts';
import type { Head, Heads } from './heads.ts';
import type { LedgerEntry, LedgerPage } from './ledger-page.ts';
import type { LedgerStore } from './ledger-store.ts';
import { type Draft, draftPage, type Posting } from './page-builder.ts';
import { createPageInsert, type Fate } from './page-insert.ts';
import type { Refusal } from './wallet-rules.ts';

type Outcome =
  | { outcome: 'written'; entry: LedgerEntry }
  /** An entry with this id exists. */
  | { outcome: 'used' }
  | Refusal;

/** The result of a posting. `used` means that a durable entry with this id exists already. */
export type Written = Exclude<Outcome, { outcome: 'used' }> | { outcome: 'used'; entry: LedgerEntry };

export interface Options {
  /** A posting whose signal is aborted leaves the queue and is not sent. */
  signal: DeadlineSignal;
  /** Called with the entry while its page is being inserted. Called again if the entry moves to a later page. */
  onPlaced?: ((entry: LedgerEntry) => void) | undefined;
}

interface Ticket extends Posting, Options {
  /** When the posting arrived, on the clock of `uptime`. */
  since: number;
  resolve: (outcome: Outcome) => void;
  reject: (reason: unknown) => void;
}

interface Settings {
  store: Pick<LedgerStore, 'insert' | 'page' | 'existing' | 'findDurableEntry'>;
  heads: Heads;
  clock: Pick<Clock, 'now' | 'trusted'>;
  /** Called with each inserted page. */
  onWritten: (page: LedgerPage) => void;
  /** Called each time another process wrote a page first. */
  onConflict?: (() => void) | undefined;
  /** Returns the time of a clock that never goes back, in milliseconds. */
  uptime: () => number;
  /** Waits for some milliseconds between two tries. */
  pause: (ms: number) => Promise<void>;
  /** How long pages with an unknown result are sent again, in milliseconds. */
  resendWithin: number;
}

type Drafted = Draft<Ticket> & { head: Head };

/** How long to wait for a page of another process that a majority read does not show yet, in milliseconds. */
const catchUpDelayMs = () => 2 + Math.random() * 3;
const retryAfterMs = 10;

/**
 * Writes entries into the ledgers of all wallets. The process sends one command at a time. Later postings wait for the next
 * command. Only one process can insert page n + 1, so balance, spend caps and exactly-once hold over all processes.
 */
export function createLedgerWriter(settings: Settings) {
  const { store, heads, clock, onWritten, onConflict, uptime, pause, resendWithin } = settings;
  const insertPages = createPageInsert({ store, forgetHeads: heads.clear, uptime, pause, resendWithin });
  /** Ids that are known to have an entry. Such an id would make the database refuse the whole page. */
  const used = new LRUCache<string, true>({ max: cacheSizes.usedIds });
  const usedKey = ({ walletId, id }: Pick<Posting, 'walletId' | 'id'>) => `${walletId}/${id}`;
  let queue: Ticket[] = [];
  const window = createBatchWindow(() => queue.length);
  let running: Promise<void> | undefined;

  const requeue = (tickets: readonly Ticket[]) => {
    queue = [...tickets, ...queue];
  };

  /** Returns the tickets that are still to be written. Resolves or rejects the others. */
  function takeWaiting(tickets: readonly Ticket[]): Ticket[] {
    return tickets.filter((ticket) => {
      const { signal } = ticket;
      if (signal.aborted) ticket.reject(unavailable(signal.reason));
      else if (used.has(usedKey(ticket))) ticket.resolve({ outcome: 'used' });
      else return true;
      return false;
    });
  }

  /** Refuses postings. If the id of a posting was used, that result takes precedence (docs/choices.md). */
  async function refuse(refused: Draft<Ticket>['refused']): Promise<void> {
    try {
      const existing = await store.existing(refused.map(({ posting }) => posting));
      for (const { posting, refusal } of refused) {
        posting.resolve(existing.has(usedKey(posting)) ? { outcome: 'used' } : refusal);
      }
    } catch (error) {
      for (const { posting } of refused) posting.reject(error);
    }
  }

  /** Returns the last page of a wallet. If it cannot be read now, queues the tickets again and returns undefined. */
  async function readHead(walletId: string, tickets: readonly Ticket[]): Promise<Head | undefined> {
    try {
      return heads.get(walletId) ?? (await heads.load(walletId));
    } catch (error) {
      if (isUnavailable(error)) {
        await pause(retryAfterMs);
        requeue(tickets);
      } else for (const ticket of tickets) ticket.reject(error);
      return undefined;
    }
  }

  /**
   * Refuses the postings of a draft without entries. A posting that arrived after its head was read is queued again, because the
   * head may be outdated.
   */
  function refuseOrRequeue({ head, refused }: Omit<Drafted, 'page'>, walletId: string): void {
    const finallyRefused: Drafted['refused'] = [];
    const undecided: Ticket[] = [];
    for (const item of refused) {
      const { posting } = item;
      if (posting.since <= head.asOf) finallyRefused.push(item);
      else undecided.push(posting);
    }
    if (finallyRefused.length > 0) void refuse(finallyRefused);
    if (undecided.length > 0) {
      heads.delete(walletId);
      requeue(undecided);
    }
  }

  /** Drafts the next page of each wallet. Wallets without an entry to write have no page. */
  async function draftPages(tickets: readonly Ticket[]): Promise<Drafted[]> {
    const byWallet = [...groupBy(takeWaiting(tickets), ({ walletId }) => walletId)];
    const lastPages = await Promise.all(byWallet.map(([walletId, queued]) => readHead(walletId, queued)));
    const drafts: Drafted[] = [];
    for (const [index, [walletId, queued]] of byWallet.entries()) {
      const head = lastPages[index];
      if (!head) continue;
      // Reading the heads may take seconds, and some callers may have disconnected.
      const drafted = { head, ...draftPage(head, takeWaiting(queued), clock.now()) };
      if (drafted.placed.length > 0) drafts.push(drafted);
      else refuseOrRequeue(drafted, walletId);
    }
    return drafts;
  }

  /** Resolves the placed postings of an inserted page, and queues those that are left for a later page. */
  function confirm({ page, placed, refused, later }: Drafted, sentAt: number): void {
    heads.set(page, sentAt);
    onWritten(page);
    for (const { posting, entry } of placed) {
      used.set(usedKey(posting), true);
      posting.resolve({ outcome: 'written', entry });
    }
    if (refused.length > 0) void refuse(refused);
    requeue(later);
  }

  /** Queues the postings of a page again. Another process has written the page first, or an id of the page has an entry already. */
  async function retry({ page, placed, refused, later }: Drafted, fate: Fate): Promise<void> {
    const postings = placed.map(({ posting }) => posting);
    let hasProgress: boolean;
    if (fate === 'entry exists') {
      const existing = await store.existing(postings);
      for (const key of existing) used.set(key, true);
      hasProgress = existing.size > 0;
    } else {
      if (fate === 'page exists') onConflict?.();
      heads.delete(page.walletId);
      hasProgress = (await heads.load(page.walletId)).n >= page.n;
    }
    if (!hasProgress) {
      heads.delete(page.walletId);
      await pause(catchUpDelayMs());
    }
    requeue([...postings, ...refused.map(({ posting }) => posting), ...later]);
  }

  /** Resolves, queues again or rejects the postings of a page, as the fate of the page requires. */
  async function finish(drafted: Drafted, fate: Fate, sentAt: number): Promise<void> {
    if (fate === 'inserted') return confirm(drafted, sentAt);
    if (typeof fate === 'string') {
      return retry(drafted, fate).catch((error: unknown) => fail(drafted, error));
    }
    return fail(drafted, fate);
  }

  /** Rejects the placed postings of a page that was not inserted, and queues the other postings again. */
  function fail({ placed, refused, later }: Drafted, error: unknown): void {
    for (const { posting } of placed) posting.reject(isUnavailable(error) ? unavailable(error) : error);
    requeue([...refused.map(({ posting }) => posting), ...later]);
  }

  /** Lets the caller prepare its response. If that fails, the caller prepares it again after the insert. */
  function place(posting: Ticket, entry: LedgerEntry): void {
    try {
      posting.onPlaced?.(entry);
    } catch {
      // The caller gets the same error when the page is inserted.
    }
  }

  /** Writes tickets with one insert of one page for each wallet. */
  async function writeAll(tickets: readonly Ticket[]): Promise<void> {
    const drafts = await draftPages(tickets);
    if (drafts.length === 0) return;
    const sentAt = uptime();
    const inserting = insertPages(drafts);
    setImmediate(() => {
      for (const { posting, entry } of drafts.flatMap(({ placed }) => placed)) place(posting, entry);
    });
    const fates = await inserting;
    await Promise.all(
      drafts.map((drafted, n) =>
        finish(drafted, fates[n] ?? new Error('the result of a page is unknown'), sentAt),
      ),
    );
  }

  /** Returns the entry of a used id. @throws ApiError `service_unavailable` if the entry is not durable yet */
  async function findUsedEntry({ walletId, id }: Posting): Promise<Written> {
    const entry = await store.findDurableEntry({ walletId, id });
    if (entry) return { outcome: 'used', entry };
    // The page of another process is not yet on a majority of the members, or was lost when a backup was restored.
    used.delete(usedKey({ walletId, id }));
    throw unavailable(new Error(`the entry ${id} is being written by another process`));
  }

  /** Writes the queue, one batch after the other, until the queue is empty. */
  async function writeQueue(): Promise<void> {
    while (queue.length > 0) {
      await window.wait();
      const tickets = queue;
      queue = [];
      // If this code has a fault, the callers get the error, because they would otherwise wait forever.
      await writeAll(tickets).catch((error: unknown) => {
        const rejected = new Set(tickets);
        queue = queue.filter((ticket) => !rejected.has(ticket));
        for (const ticket of tickets) ticket.reject(error);
      });
    }
    running = undefined;
  }

  return {
    /**
     * Writes one entry. An id is written only once.
     * @throws ApiError `not_found` if the wallet was never opened
     * @throws ApiError `service_unavailable` if the clock is not trusted, if the signal is aborted, or if the result of the
     *   insert stays unknown
     */
    async write(posting: Posting, options: Options): Promise<Written> {
      if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));
      const result = await new Promise<Outcome>((resolve, reject) => {
        queue.push({ ...posting, ...options, since: uptime(), resolve, reject });
        window.itemAdded();
        running ??= writeQueue();
      });
      return result.outcome === 'used' ? findUsedEntry(posting) : result;
    },

    /** Resolves when no write is in progress. Call this when the process stops. */
    async drain(): Promise<void> {
      while (running) await running;
    },
  };
}
export type LedgerWriter = ReturnType<typeof createLedgerWriter>;
