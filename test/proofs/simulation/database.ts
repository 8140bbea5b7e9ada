import type { LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import type { InsertResult } from '../../../server/billing/ledger/ledger-store.ts';
import type { Random } from './random.ts';
import { createActor, type Schedule } from './schedule.ts';

/** A stored page. */
export interface StoredPage {
  page: LedgerPage;
  /** The number of the change that inserted it. */
  position: number;
  appliedAt: number;
  /** The number of the change that removed its outbox mark. */
  publishedBy?: number;
  confirmedAt?: number;
  /** The time at which a failover rolled it back. */
  lostAt?: number;
}

/**
 * - `replica set`: a confirmed write is on a majority of the members, and only confirmed writes are read
 * - `single server`: a confirmed write is in the journal; reads also see writes that a crash can still lose
 */
export type Deployment = 'replica set' | 'single server';

export interface DatabaseSettings {
  schedule: Schedule;
  random: Random;
  deployment: Deployment;
  /** The longest time in milliseconds until a write is confirmed. */
  confirmation: number;
  /** The time in milliseconds in which a new primary may not show all confirmed writes. */
  electionLag: number;
  /** Whether the database lacks the index that makes an entry id unique. */
  withoutEntryIndex: boolean;
  /** Whether reads, and heads of wallets, include unconfirmed writes. */
  localReads: boolean;
  log: (actor: string, text: () => string) => void;
  /** Called for each confirmed page, in the order of the changes. */
  onConfirmed: (stored: StoredPage) => void;
}

interface Change {
  undo: () => void;
  stored?: StoredPage;
}

interface Waiter {
  position: number;
  then: () => void;
}

const descending = (a: StoredPage, b: StoredPage) => b.page.n - a.page.n;

/**
 * Creates the simulated database server. It applies a change when the change arrives, and confirms it later, in order. A
 * failover (a crash, or the election of another member) keeps the confirmed changes, and rolls back some of the newest others.
 */
export function createDatabase(settings: DatabaseSettings) {
  const { schedule, random, deployment, log } = settings;
  const actor = createActor('database', { passive: true });
  const pages = new Map<string, StoredPage>();
  const chains = new Map<string, StoredPage[]>();
  const entries = new Map<string, StoredPage>();
  const revocations = new Set<string>();
  const changes: Change[] = [];
  const lost: StoredPage[] = [];
  /** A read before the time `until` may return the state of the change `from`. */
  const lags: { from: number; until: number }[] = [];
  let confirmed = 0;
  /** The number of changes before the schedule. */
  let seeded = 0;
  let waiters: Waiter[] = [];
  let stalledUntil = 0;
  let lagging: { until: number; position: number } = { until: 0, position: 0 };
  let epoch = 0;
  let down = false;
  const onUp: (() => void)[] = [];
  const connections = new Set<() => void>();

  function confirm(position: number): void {
    for (; confirmed < Math.min(position, changes.length); confirmed += 1) {
      const stored = changes[confirmed]?.stored;
      if (!stored) continue;
      stored.confirmedAt = schedule.now();
      settings.onConfirmed(stored);
    }
    const ready = waiters.filter((waiter) => waiter.position <= confirmed);
    waiters = waiters.filter((waiter) => waiter.position > confirmed);
    for (const { then } of ready) then();
  }

  /** Confirms all changes so far after a delay, which is longer while confirmations are stalled. */
  function confirmLater(): void {
    const [position, of] = [changes.length, epoch];
    const delay = random.between(0.05, settings.confirmation);
    const at = Math.max(schedule.now(), stalledUntil) + delay;
    schedule.after(at - schedule.now(), actor, () => {
      if (of !== epoch) return;
      if (schedule.now() < stalledUntil) confirmLater();
      else confirm(position);
    });
  }

  /** Returns the number of the last change that a read includes. */
  function readable(): number {
    if (deployment === 'single server' || settings.localReads) return changes.length;
    return schedule.now() < lagging.until ? lagging.position : confirmed;
  }

  const isVisible = ({ position }: StoredPage) => position <= readable();
  const keyOf = (walletId: string, id: string) => `${walletId} ${id}`;

  function insertPage(page: LedgerPage): InsertResult {
    const { _id, walletId } = page;
    if (pages.has(_id)) return 'page exists';
    const keys = page.entries.map(({ id }) => keyOf(walletId, id));
    if (!settings.withoutEntryIndex && keys.some((key) => entries.has(key))) return 'entry exists';
    const stored: StoredPage = { page, position: changes.length + 1, appliedAt: schedule.now() };
    pages.set(_id, stored);
    const chain = chains.get(walletId) ?? [];
    chains.set(walletId, chain);
    chain.push(stored);
    chain.sort(descending);
    const added = keys.filter((key) => !entries.has(key));
    for (const key of added) entries.set(key, stored);
    changes.push({
      stored,
      undo() {
        pages.delete(_id);
        chain.splice(chain.indexOf(stored), 1);
        for (const key of added) entries.delete(key);
        stored.lostAt = schedule.now();
        lost.push(stored);
      },
    });
    return 'inserted';
  }

  /** Ends all connections. Unconfirmed changes may be lost. */
  function fail(): void {
    epoch += 1;
    down = true;
    const kept = random.int(confirmed, changes.length);
    log(actor.name, () => `fails; keeps ${kept} of ${changes.length} changes, ${confirmed} confirmed`);
    for (const change of changes.splice(kept).reverse()) change.undo();
    const lagFrom = schedule.now() - settings.electionLag;
    let position = random.int(Math.max(seeded, kept - 3), kept);
    while (position < kept && (changes[position]?.stored?.confirmedAt ?? 0) < lagFrom) position += 1;
    lagging = { until: 0, position };
    lags.push({ from: lagFrom, until: Number.POSITIVE_INFINITY });
    waiters = [];
    stalledUntil = 0;
    for (const close of [...connections]) close();
    connections.clear();
  }

  function restart(): void {
    log(actor.name, () => 'is up');
    down = false;
    lagging.until = schedule.now() + settings.electionLag;
    const lag = lags.at(-1);
    if (lag) lag.until = lagging.until;
    confirm(changes.length);
    for (const then of onUp.splice(0)) then();
  }

  return {
    actor,
    pages,
    chains,
    lost,
    lags,
    hasDurableHeads: deployment === 'single server' && !settings.localReads,
    epoch: () => epoch,
    isDown: () => down,
    whenUp: (then: () => void) => void onUp.push(then),
    connections,

    /** Calls `then` when all changes so far are confirmed, or never if the server fails before. */
    whenConfirmed(then: () => void): void {
      const position = changes.length;
      if (position <= confirmed) then();
      else waiters.push({ position, then });
    },

    /** Confirms no write for a while, as with a slow disk or a primary without its majority. */
    stall(ms: number): void {
      log(actor.name, () => `confirms nothing for ${Math.round(ms)} ms`);
      stalledUntil = schedule.now() + ms;
    },

    failFor(ms: number, whenDone: () => void): void {
      if (down) return;
      fail();
      schedule.after(ms, actor, () => {
        restart();
        whenDone();
      });
    },

    insert(documents: readonly LedgerPage[]): InsertResult[] {
      const results = documents.map(insertPage);
      if (results.includes('inserted')) confirmLater();
      return results;
    },

    /** Inserts a page that is confirmed immediately, for the start of a schedule. */
    seed(page: LedgerPage): void {
      insertPage(page);
      confirm(changes.length);
      seeded = changes.length;
    },

    head: (walletId: string): LedgerPage | undefined => chains.get(walletId)?.find(isVisible)?.page,

    page(id: string): LedgerPage | undefined {
      const stored = pages.get(id);
      return stored && isVisible(stored) ? stored.page : undefined;
    },

    entry(walletId: string, id: string) {
      const stored = entries.get(keyOf(walletId, id));
      if (!stored || !isVisible(stored)) return undefined;
      return stored.page.entries.find((entry) => entry.id === id);
    },

    unpublished: (before: Date, limit: number): LedgerPage[] =>
      [...pages.values()]
        .filter((stored) => isVisible(stored) && stored.page.unpublished && stored.page.at < before)
        .filter(({ publishedBy = Number.POSITIVE_INFINITY }) => publishedBy > readable())
        .sort((a, b) => a.page.at.getTime() - b.page.at.getTime())
        .slice(0, limit)
        .map(({ page }) => page),

    markPublished(ids: readonly string[]): void {
      for (const id of ids) {
        const stored = pages.get(id);
        if (!stored || stored.publishedBy !== undefined) continue;
        stored.publishedBy = changes.length + 1;
        changes.push({ undo: () => delete stored.publishedBy });
      }
      confirmLater();
    },

    isRevoked: (id: string) => revocations.has(id),
    revoke: (ids: readonly string[]) => ids.forEach((id) => void revocations.add(id)),
  };
}
export type SimulatedDatabase = ReturnType<typeof createDatabase>;
