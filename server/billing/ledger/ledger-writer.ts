import { LRUCache } from 'lru-cache';
import type { DeadlineSignal } from '../../../contracts/charge.ts';
import { createBatchWindow } from '../../platform/batching/batch-window.ts';
import { atMost } from '../../platform/batching/cache-size.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import type { Clock } from '../../platform/clock.ts';
import { isUnavailable } from '../../platform/database/connect.ts';
import { unavailable } from '../../platform/errors.ts';
import { cacheSizes } from './cache-sizes.ts';
import type { Head, Heads } from './heads.ts';
import { entryKeyOf, type LedgerEntry, type LedgerPage } from './ledger-page.ts';
import type { LedgerStore } from './ledger-store.ts';
import { type Draft, draftPage, type Posting } from './page-builder.ts';
import { createPageInsert, type InsertSettings, type PageResult } from './page-insert.ts';
import type { Refusal } from './wallet-rules.ts';

type Outcome =
  | { outcome: 'written'; entry: LedgerEntry }
  /** An entry with this id exists. */
  | { outcome: 'used' }
  | Refusal;

/** The result of a posting for its caller. `used`: no crash can undo `entry`, which has this id already. */
export type Written = Exclude<Outcome, { outcome: 'used' }> | { outcome: 'used'; entry: LedgerEntry };

export interface Options {
  /** Aborted when the caller no longer waits. The posting is then not sent, if it was not sent yet. */
  signal: DeadlineSignal;
  /** Called with the entry while its page is being inserted. Called again if the posting moves to a later page. */
  onPlaced?: ((entry: LedgerEntry) => void) | undefined;
}

/** A posting in the queue, with the functions that end the caller's wait. */
interface Ticket extends Posting, Options {
  /** On the clock of `uptime`. */
  arrivedAt: number;
  resolve: (outcome: Outcome) => void;
  reject: (reason: unknown) => void;
}

interface Settings extends Omit<InsertSettings, 'store' | 'forgetHeads'> {
  store: Pick<LedgerStore, 'insert' | 'page' | 'existing' | 'findDurableEntry'>;
  heads: Heads;
  clock: Pick<Clock, 'now' | 'trusted'>;
  onWritten: (page: LedgerPage) => void;
  /** Called each time another process wrote a page first. */
  onConflict?: (() => void) | undefined;
}

type Drafted = Draft<Ticket> & { head: Head };

/** How long to wait for a page that reads do not show yet, in milliseconds. Random, so that processes do not retry together. */
const catchUpDelayMs = () => 2 + Math.random() * 3;
const retryAfterMs = 10;

/**
 * Writes postings, which are requests for one entry each, into the ledgers of all wallets. The process sends one insert at a time,
 * with a page for each wallet. Postings that arrive meanwhile wait in a queue for the next insert.
 *
 * Each page contains the balance and the spend windows after it. Of all processes, only one can insert the page with the next
 * number. Therefore the limits hold over all processes.
 */
export function createLedgerWriter(settings: Settings) {
  const { store, heads, clock, onWritten, onConflict, uptime, pause, resendWithin } = settings;
  const insertPages = createPageInsert({ store, forgetHeads: heads.clear, uptime, pause, resendWithin });
  /** Ids that have an entry, as far as this process knows. Such an id would make the database refuse the whole page. */
  const used = new LRUCache<string, true>(atMost(cacheSizes.usedIds));
  let queue: Ticket[] = [];
  /** Lets a batch wait until about as many postings have arrived as were in the last one, at most 2 ms. */
  const batchWindow = createBatchWindow(() => queue.length);
  let running: Promise<void> | undefined;

  /** Puts tickets at the head of the queue, because they arrived before the tickets in it. */
  const requeue = (tickets: readonly Ticket[]) => {
    queue = [...tickets, ...queue];
  };

  /** Returns the tickets that must still be written. Ends the others: the caller waits no longer, or the id has an entry. */
  function stillToWrite(tickets: readonly Ticket[]): Ticket[] {
    const toWrite: Ticket[] = [];
    for (const ticket of tickets) {
      const { signal } = ticket;
      if (signal.aborted) ticket.reject(unavailable(signal.reason));
      else if (used.has(entryKeyOf(ticket))) ticket.resolve({ outcome: 'used' });
      else toWrite.push(ticket);
    }
    return toWrite;
  }

  /** Refuses postings. A posting whose id has an entry gets `used` instead, so that a repeated request learns of its charge. */
  async function refuse(refused: Draft<Ticket>['refused']): Promise<void> {
    try {
      const existing = await store.existing(refused.map(({ posting }) => posting));
      for (const { posting, refusal } of refused) {
        posting.resolve(existing.has(entryKeyOf(posting)) ? { outcome: 'used' } : refusal);
      }
    } catch (error) {
      for (const { posting } of refused) posting.reject(error);
    }
  }

  /**
   * Returns the last page of a wallet. If it cannot be read, the result is undefined, and this function has already queued the
   * tickets again or rejected them.
   */
  async function readHead(walletId: string, tickets: readonly Ticket[]): Promise<Head | undefined> {
    try {
      return heads.get(walletId) ?? (await heads.load(walletId));
    } catch (error) {
      if (isUnavailable(error)) {
        await pause(retryAfterMs);
        requeue(tickets);
      } else {
        for (const ticket of tickets) ticket.reject(error);
      }
      return undefined;
    }
  }

  /**
   * Refuses the postings of a draft without entries. A posting that arrived after its head was read is queued again, and decided
   * on a new head, because money may have arrived in the wallet meanwhile.
   */
  function refuseOrRequeue({ head, refused }: Omit<Drafted, 'page'>, walletId: string): void {
    const finallyRefused: Drafted['refused'] = [];
    const undecided: Ticket[] = [];
    for (const item of refused) {
      const { posting } = item;
      if (posting.arrivedAt <= head.asOf) finallyRefused.push(item);
      else undecided.push(posting);
    }
    if (finallyRefused.length > 0) void refuse(finallyRefused);
    if (undecided.length > 0) {
      heads.delete(walletId);
      requeue(undecided);
    }
  }

  /** Drafts the next page of each wallet that has at least one entry to write. */
  async function draftPages(tickets: readonly Ticket[]): Promise<Drafted[]> {
    const byWallet = [...groupBy(stillToWrite(tickets), ({ walletId }) => walletId)];
    const wallets = await Promise.all(
      byWallet.map(async ([walletId, queued]) => ({
        walletId,
        queued,
        head: await readHead(walletId, queued),
      })),
    );
    const drafts: Drafted[] = [];
    for (const { walletId, queued, head } of wallets) {
      // `readHead` has handled the tickets of a wallet without a head.
      if (!head) continue;
      // Reading the heads may take seconds. A caller that disconnected meanwhile must not be charged.
      const drafted = { head, ...draftPage(head, stillToWrite(queued), clock.now()) };
      if (drafted.placed.length > 0) drafts.push(drafted);
      else refuseOrRequeue(drafted, walletId);
    }
    return drafts;
  }

  /**
   * Resolves the placed postings of an inserted page, and queues those that are left for a later page.
   * @param sentAt when the page was sent for the first time. Another page may follow it at any time after that
   */
  function confirm({ page, placed, refused, later }: Drafted, sentAt: number): void {
    heads.set(page, sentAt);
    onWritten(page);
    for (const { posting, entry } of placed) {
      used.set(entryKeyOf(posting), true);
      posting.resolve({ outcome: 'written', entry });
    }
    if (refused.length > 0) void refuse(refused);
    requeue(later);
  }

  /** Remembers which of these postings have an entry. @returns whether a read shows such an entry yet */
  async function learnUsedIds(postings: readonly Ticket[]): Promise<boolean> {
    const existing = await store.existing(postings);
    for (const key of existing) used.set(key, true);
    return existing.size > 0;
  }

  /** Reads the last page of a wallet again. @returns whether the read shows a page with number `n` */
  async function reloadHead({ walletId, n }: LedgerPage): Promise<boolean> {
    heads.delete(walletId);
    return (await heads.load(walletId)).n >= n;
  }

  /** Queues all postings of a page again, because another page has its number, or an entry has one of its ids. */
  async function retry({ page, placed, refused, later }: Drafted, result: PageResult): Promise<void> {
    const postings = placed.map(({ posting }) => posting);
    if (result === 'page exists') onConflict?.();
    const isCauseVisible = result === 'entry exists' ? await learnUsedIds(postings) : await reloadHead(page);
    // The database reports a new page before reads show it. Without a pause, the same page would be drafted again.
    if (!isCauseVisible) {
      heads.delete(page.walletId);
      await pause(catchUpDelayMs());
    }
    requeue([...postings, ...refused.map(({ posting }) => posting), ...later]);
  }

  /** Resolves, queues again or rejects the postings of a page, as its result requires. */
  async function finish(drafted: Drafted, result: PageResult, sentAt: number): Promise<void> {
    if (result === 'inserted') return confirm(drafted, sentAt);
    if (result instanceof Error) return fail(drafted, result);
    return retry(drafted, result).catch((error: unknown) => fail(drafted, error));
  }

  /** Rejects the placed postings of a page that was not inserted. The other postings were not sent, so they are queued again. */
  function fail({ placed, refused, later }: Drafted, error: unknown): void {
    // Callers get a 503 if the database was away, and a 500 otherwise.
    const reason = isUnavailable(error) ? unavailable(error) : error;
    for (const { posting } of placed) posting.reject(reason);
    requeue([...refused.map(({ posting }) => posting), ...later]);
  }

  /** Tells the caller of its entry, so that it prepares its response while the page is being inserted. */
  function announce(posting: Ticket, entry: LedgerEntry): void {
    try {
      posting.onPlaced?.(entry);
    } catch {
      // The caller prepares its response again after the insert, and then gets the error.
    }
  }

  /** Writes tickets with one insert, which contains a page for each wallet. */
  async function writeAll(tickets: readonly Ticket[]): Promise<void> {
    const drafts = await draftPages(tickets);
    if (drafts.length === 0) return;
    const sentAt = uptime();
    const inserting = insertPages(drafts);
    // Callers prepare their responses while the database works: the driver sends the pages before `setImmediate` calls back.
    setImmediate(() => {
      for (const { posting, entry } of drafts.flatMap(({ placed }) => placed)) announce(posting, entry);
    });
    const results = await inserting;
    await Promise.all(
      drafts.map((drafted, index) =>
        finish(drafted, results[index] ?? new Error('the result of a page is unknown'), sentAt),
      ),
    );
  }

  /** Returns the entry of a used id. @throws ApiError `service_unavailable` if the entry is not durable yet */
  async function findUsedEntry({ walletId, id }: Posting): Promise<Written> {
    const entry = await store.findDurableEntry({ walletId, id });
    if (entry) return { outcome: 'used', entry };
    // Another process has not confirmed its page yet, or the page was lost when a backup was restored.
    used.delete(entryKeyOf({ walletId, id }));
    throw unavailable(new Error(`the entry ${id} is being written by another process`));
  }

  /** Writes the queue, one batch after the other, until the queue is empty. */
  async function writeQueue(): Promise<void> {
    while (queue.length > 0) {
      await batchWindow.wait();
      const tickets = queue;
      queue = [];
      // `writeAll` throws only if this code has a fault. The callers get the error, because they would otherwise wait forever.
      await writeAll(tickets).catch((error: unknown) => {
        // `writeAll` may have queued some of the tickets again before it threw.
        const rejected = new Set(tickets);
        queue = queue.filter((ticket) => !rejected.has(ticket));
        for (const ticket of tickets) ticket.reject(error);
      });
    }
    running = undefined;
  }

  return {
    /**
     * Writes one entry. If its id has one already, writes nothing and returns `used` with that entry.
     * @throws ApiError `not_found` if the wallet was never opened
     * @throws ApiError `service_unavailable` if the clock is not trusted, the signal is aborted, or the insert's result unknown
     */
    async write(posting: Posting, options: Options): Promise<Written> {
      if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));
      const result = await new Promise<Outcome>((resolve, reject) => {
        queue.push({ ...posting, ...options, arrivedAt: uptime(), resolve, reject });
        batchWindow.itemAdded();
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
