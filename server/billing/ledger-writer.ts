import { LRUCache } from 'lru-cache';
import type { Waiting } from '../../contracts/charge.ts';
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
  /** An entry of this id exists. */
  | { outcome: 'used' }
  | Refusal;

/** The result of a posting. `used`: an entry of this id exists, and no crash takes it back. */
export type Written = Exclude<Outcome, { outcome: 'used' }> | { outcome: 'used'; entry: LedgerEntry };

export interface Options {
  /** Once it is aborted, a posting leaves the queue and is not sent. */
  signal: Waiting;
  /** Called while the page is on its way; again where it has to go with a later page. */
  onPlaced?: ((entry: LedgerEntry) => void) | undefined;
}

interface Ticket extends Posting, Options {
  /** When it arrived, on the clock of `uptime`. */
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
  /** Called for each page that another process was first with. */
  onConflict?: (() => void) | undefined;
  /** Milliseconds; only ever goes forward. */
  uptime: () => number;
  /** Milliseconds between tries. */
  pause: (ms: number) => Promise<void>;
}

type Drafted = Draft<Ticket> & { head: Head };

/** A page of another process may exist before a majority read shows it. Milliseconds. */
const catchUpDelayMs = () => 2 + Math.random() * 3;
const retryAfterMs = 10;

/**
 * Writes entries into the ledgers of all wallets. One command of this process is in flight; what arrives while it is goes with the
 * next. Inserting page n + 1 is a compare-and-swap: it decides balance, spend caps and exactly-once over all processes.
 */
export function createLedgerWriter(settings: Settings) {
  const { store, heads, clock, onWritten, onConflict, uptime, pause } = settings;
  const insertPages = createPageInsert({ store, forgetHeads: heads.clear, uptime, pause });
  /** Ids that are known to exist. Such an id would cause the refusal of its whole page. */
  const used = new LRUCache<string, true>({ max: cacheSizes.usedIds });
  const usedKey = ({ walletId, id }: Pick<Posting, 'walletId' | 'id'>) => `${walletId}/${id}`;
  let queue: Ticket[] = [];
  const window = createBatchWindow(() => queue.length);
  let running: Promise<void> | undefined;

  const again = (tickets: readonly Ticket[]) => {
    queue = [...tickets, ...queue];
  };

  /** Tickets that still wait and are not known as used. */
  function due(tickets: readonly Ticket[]): Ticket[] {
    return tickets.filter((ticket) => {
      const { signal } = ticket;
      if (signal.aborted) ticket.reject(unavailable(signal.reason));
      else if (used.has(usedKey(ticket))) ticket.resolve({ outcome: 'used' });
      else return true;
      return false;
    });
  }

  /** Refuses, unless the id was used: that comes first (docs/choices.md). */
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

  /** The page that its wallet's postings are to follow; undefined where it cannot be read now. */
  async function headFor(walletId: string, tickets: readonly Ticket[]): Promise<Head | undefined> {
    try {
      return heads.get(walletId) ?? (await heads.load(walletId));
    } catch (error) {
      if (isUnavailable(error)) {
        await pause(retryAfterMs);
        again(tickets);
      } else for (const ticket of tickets) ticket.reject(error);
      return undefined;
    }
  }

  function draft(walletId: string, head: Head, tickets: readonly Ticket[]): Drafted | undefined {
    if (tickets.length === 0) return undefined;
    const drafted = draftPage(head, tickets, clock.now());
    if (drafted.placed.length > 0) return { ...drafted, head };

    // Nothing proves that this head is the last one: only one that is newer than the request may refuse it.
    const isFresh = ({ posting }: Drafted['refused'][number]) => posting.since <= head.asOf;
    const fresh = drafted.refused.filter(isFresh);
    if (fresh.length > 0) void refuse(fresh);
    if (fresh.length < drafted.refused.length) {
      heads.delete(walletId);
      again(drafted.refused.filter((refused) => !isFresh(refused)).map(({ posting }) => posting));
    }
    return undefined;
  }

  function confirm({ page, placed, refused, later }: Drafted, sentAt: number): void {
    heads.set(page, sentAt);
    onWritten(page);
    for (const { posting, entry } of placed) {
      used.set(usedKey(posting), true);
      posting.resolve({ outcome: 'written', entry });
    }
    if (refused.length > 0) void refuse(refused);
    again(later);
  }

  /** Another process was first, or an id of the page exists: checks the remaining postings again. */
  async function retry({ page, placed, refused, later }: Drafted, fate: Fate): Promise<void> {
    const postings = placed.map(({ posting }) => posting);
    let progress = true;
    if (fate === 'entry exists') {
      const existing = await store.existing(postings);
      for (const key of existing) used.set(key, true);
      progress = existing.size > 0;
    } else {
      if (fate === 'page exists') onConflict?.();
      heads.delete(page.walletId);
      progress = (await heads.load(page.walletId)).n >= page.n;
    }
    if (!progress) {
      heads.delete(page.walletId);
      await pause(catchUpDelayMs());
    }
    again([...postings, ...refused.map(({ posting }) => posting), ...later]);
  }

  async function finish(drafted: Drafted, fate: Fate, sentAt: number): Promise<void> {
    if (fate === 'inserted') return confirm(drafted, sentAt);
    if (typeof fate === 'string') {
      return retry(drafted, fate).catch((error: unknown) => fail(drafted, error));
    }
    return fail(drafted, fate);
  }

  function fail({ placed, refused, later }: Drafted, error: unknown): void {
    for (const { posting } of placed) posting.reject(isUnavailable(error) ? unavailable(error) : error);
    again([...refused.map(({ posting }) => posting), ...later]);
  }

  /** Prepares the answer. After a failure, it is prepared again when the page is inserted. */
  function place(posting: Ticket, entry: LedgerEntry): void {
    try {
      posting.onPlaced?.(entry);
    } catch {
      // The caller gets the same error when the page is inserted.
    }
  }

  async function writeAll(tickets: readonly Ticket[]): Promise<void> {
    const wallets = await Promise.all(
      [...groupBy(due(tickets), ({ walletId }) => walletId)].map(async ([walletId, queued]) => ({
        walletId,
        queued,
        head: await headFor(walletId, queued),
      })),
    );
    // Reading the heads may take seconds, and some callers may have disconnected.
    const drafts = wallets.flatMap(
      ({ walletId, head, queued }) => (head && draft(walletId, head, due(queued))) ?? [],
    );
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

  async function usedEntry({ walletId, id }: Posting): Promise<Written> {
    const entry = await store.findDurableEntry({ walletId, id });
    if (entry) return { outcome: 'used', entry };
    // Another process's page is not yet on a majority of the members, or a restored database has lost it.
    used.delete(usedKey({ walletId, id }));
    throw unavailable(new Error(`the entry ${id} is being written by another process`));
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      await window.wait();
      const tickets = queue;
      queue = [];
      // A fault of this code must not leave a caller without an answer.
      await writeAll(tickets).catch((error: unknown) => {
        const answered = new Set(tickets);
        queue = queue.filter((ticket) => !answered.has(ticket));
        for (const ticket of tickets) ticket.reject(error);
      });
    }
    running = undefined;
  }

  return {
    /**
     * Writes one entry, once for its id.
     * @throws ApiError not_found for a wallet that was never opened
     * @throws ApiError service_unavailable where the clock is not trusted, or the signal is aborted, or nothing told in time
     *   what became of the page
     */
    async write(posting: Posting, options: Options): Promise<Written> {
      if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));
      const result = await new Promise<Outcome>((resolve, reject) => {
        queue.push({ ...posting, ...options, since: uptime(), resolve, reject });
        window.itemAdded();
        running ??= run();
      });
      return result.outcome === 'used' ? usedEntry(posting) : result;
    },

    /** Resolves when nothing is under way; for a graceful stop. */
    async drain(): Promise<void> {
      while (running) await running;
    },
  };
}
export type LedgerWriter = ReturnType<typeof createLedgerWriter>;
