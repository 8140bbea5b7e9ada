import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DeadlineSignal } from '../../../contracts/charge.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Peer } from '../../platform/jobs/processes.ts';
import { open, seal } from '../../platform/keys/authenticated-json.ts';
import type { LedgerEntry } from '../ledger/ledger-page.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { LedgerWriter, Options, Written } from '../ledger/ledger-writer.ts';
import { type Posting, termsAt } from '../ledger/page-builder.ts';
import { type Answer, type Keys, type Reply, type Request, withDates } from './messages.ts';
import type { Writers } from './writers.ts';

/** The settings of both sides of a hand-over: a process sends its postings to the process that writes their wallet. */
export interface Base {
  /** Id of this process. */
  self: string;
  keys: Keys;
  local: Pick<LedgerWriter, 'write'>;
  clock: Pick<Clock, 'now' | 'trusted'>;
  /** Returns the time of a clock that never goes back, in milliseconds. */
  uptime: () => number;
}

/**
 * How the result of a posting was found. `own`: this process is the writer of the wallet. `answered`: the writer has replied.
 * `not_sent`, `lost`: this process wrote the posting, because no request reached the writer, or no reply came from it.
 */
export type Way = 'own' | 'answered' | 'not_sent' | 'lost';

export interface HandOverSettings extends Base {
  store: Pick<LedgerStore, 'findDurableEntry'>;
  writers: Pick<Writers, 'of' | 'isAnswering' | 'suspect'>;
  /** Sends a request to a peer and returns its reply. Rejects if no reply arrives soon. */
  send: (peer: Peer, body: string, isProbe: boolean) => Promise<string>;
  pause: (ms: number) => Promise<void>;
  /** Returns a signal that aborts after some milliseconds, like `AbortSignal.timeout`. */
  timeout: (ms: number) => DeadlineSignal;
  onPosting: (way: Way) => void;
  /** Called with the number of postings of each request. */
  onBatch: (size: number) => void;
}

type Item = { posting: Posting; signal: DeadlineSignal };
/** The result without a reply. The peer may still send the posting until `until`, on the clock of `uptime`. */
type Lost = { outcome: 'lost'; until: number; fenceId: string };
type Result = Answer | Lost | { outcome: 'not_sent' };

/** A peer drops a posting that is not on a page this many milliseconds after the request. */
const placeWithinMs = 1_000;
/**
 * A posting is handed over only if its caller waits at least this many milliseconds. A silent peer is noticed after 1 s, and the rest
 * of the time is for the write by this process.
 */
const leastLeftMs = 1_250;
/** By how many milliseconds two clocks that follow the database's clock may differ. */
const clockMarginMs = 1_000;
/** How long the write of a fence may take, in milliseconds. The caller's deadline does not end it. See `writeFenced`. */
const fenceWithinMs = 1_500;
/** How often to look for callers that no longer wait, in milliseconds. */
const abortEveryMs = 100;
const mostPostings = 128;
const mostPeers = 1_000;

/** Writes postings here, or hands them over to the process that writes their wallet. An index prevents that both write an entry. */
export function createHandOver(settings: HandOverSettings) {
  const { self, keys, local, store, writers, send, clock, uptime, pause, timeout } = settings;
  /** For each peer, a function that collects the postings for its next request. */
  const collectors = new LRUCache<string, (item: Item) => Promise<Result>>({ max: mostPeers });
  let lastNonce = 0;
  const timeLeft = ({ aborted, endsAt = Infinity }: DeadlineSignal) => (aborted ? 0 : endsAt - uptime());
  const lostUntil = (until: number): Lost => ({ outcome: 'lost', until, fenceId: `fence_${randomUUID()}` });

  /** Sends a request to a peer. @returns the answer to each posting. @throws Error if no authentic reply arrives */
  async function exchange(peer: Peer, content: Pick<Request, 'n' | 'postings' | 'abort'>): Promise<Answer[]> {
    const request: Request = { version: 1, from: self, to: peer.id, at: clock.now(), ...content };
    // No caller waits for a request without postings, so it may take as long as a probe.
    const isProbe = content.postings.length === 0;
    const sealed = await send(peer, seal(keys.request, request), isProbe);
    const { to, n, answers = [] } = open<Reply>(keys.reply, sealed) ?? {};
    if (to === self && n === request.n && answers.length === request.postings.length) return answers;
    throw new Error('the reply of another process is not authentic');
  }

  /** Until request `n` ends, tells the peer which callers no longer wait. No message is repeated, because postings have a deadline. */
  async function forwardAborts(peer: Peer, n: number, items: readonly Item[], ended: AbortSignal) {
    let reportedCount = 0;
    while (true) {
      await pause(abortEveryMs);
      if (ended.aborted) return;
      const positions = [...items.keys()].filter((position) => items[position]?.signal.aborted);
      if (positions.length === reportedCount) continue;
      reportedCount = positions.length;
      void exchange(peer, { n: ++lastNonce, postings: [], abort: { n, positions } }).catch(() => undefined);
    }
  }

  /** Sends the postings of one request. @returns the result of each of them */
  async function deliver(peer: Peer, items: readonly Item[]): Promise<Result[]> {
    // The peer may have failed after these postings were queued for it.
    if (!writers.isAnswering(peer)) return items.map(() => ({ outcome: 'not_sent' }));
    const postings = items.map(({ posting, signal }) => ({
      posting,
      withinMs: Math.min(placeWithinMs, timeLeft(signal)),
    }));
    // The result of all postings if no reply arrives. They share the id of the fence: each wallet needs only one fence.
    const lost = lostUntil(uptime() + placeWithinMs + clockMarginMs);
    const n = ++lastNonce;
    const ended = new AbortController();
    void forwardAborts(peer, n, items, ended.signal);
    settings.onBatch(items.length);
    try {
      return await exchange(peer, { n, postings });
    } catch (error) {
      writers.suspect(peer, error);
      return items.map(() => lost);
    } finally {
      ended.abort();
    }
  }

  /** Writes a posting in this process. The peer may have written the posting before, so its entry counts as written. */
  async function writeHere(posting: Posting, options: Options): Promise<Written> {
    const written = await local.write(posting, options);
    return written.outcome === 'used' ? recognise(posting, written.entry) : written;
  }

  /**
   * Writes a posting that the peer may write too. If this process cannot write it, a fence first makes sure that the peer will not
   * write it later. A fence is an entry without money. It only takes the number of the wallet's next page.
   */
  async function writeFenced(posting: Posting, options: Options, { until, fenceId }: Lost): Promise<Written> {
    const writing = writeHere(posting, options);
    const { outcome } = await writing.catch(() => ({ outcome: 'failed' }));
    if (outcome === 'written' || outcome === 'used') return writing;
    // After `until`, the peer sends no page with this posting.
    await pause(Math.max(0, until - uptime()));
    // A page that the peer sent before may still arrive. The fence takes the number of that page, so the database refuses it.
    const signal = timeout(fenceWithinMs);
    await local.write({ walletId: posting.walletId, id: fenceId, kind: 'fence', amount: 0 }, { signal });
    const entry = await store.findDurableEntry(posting);
    return entry ? recognise(posting, entry) : writing;
  }

  async function handOver(peer: Peer, posting: Posting, options: Options): Promise<Written> {
    const run = (items: readonly Item[]) => deliver(peer, items);
    const collect = collectors.get(peer.id) ?? createGroupCommit({ run, maxBatch: mostPostings });
    collectors.set(peer.id, collect);
    const result = await collect({ posting, signal: options.signal });
    const { outcome } = result;
    const isAnswered = outcome !== 'not_sent' && outcome !== 'lost';
    settings.onPosting(isAnswered ? 'answered' : outcome);
    switch (outcome) {
      case 'written':
        return { outcome: 'written', entry: withGrant(posting, withDates(result.entry)) };
      case 'used':
        return recognise(posting, withDates(result.entry));
      case 'capped':
      case 'insufficient':
        return result;
      // The peer has not written the posting, and never will.
      case 'dropped':
      case 'not_sent':
        return writeHere(posting, options);
      // The peer sends the posting to the database no more, so the fence may be written at once. A fence is needed, because a
      // page (a document of ledger entries) that the peer has sent may still arrive at the database.
      case 'failed':
        return writeFenced(posting, options, lostUntil(uptime()));
      case 'lost':
        return writeFenced(posting, options, result);
    }
  }

  return {
    /** Writes one entry, with the same contract as `write` of the ledger writer. */
    write(posting: Posting, options: Options): Promise<Written> {
      // The peer compares the time of the request with its own clock, so both clocks must be right.
      const canHandOver = clock.trusted() && timeLeft(options.signal) >= leastLeftMs;
      const peer = canHandOver ? writers.of(posting.walletId) : undefined;
      if (peer) return handOver(peer, withSalt(posting), options);
      settings.onPosting('own');
      return local.write(posting, options);
    },

    /** Resolves if a peer takes postings from this process. */
    probe: (peer: Peer): Promise<unknown> => exchange(peer, { n: ++lastNonce, postings: [] }),
  };
}

/** Adds a random salt to the grant. This process then recognises its own entry if the reply is lost. */
const withSalt = ({ grant, ...posting }: Posting): Posting =>
  grant ? { ...posting, grant: { ...grant, salt: randomUUID() } } : posting;

/** Adds the grant of a charge to its entry. The reply of a peer leaves it out, because this process has it. */
const withGrant = ({ grant }: Posting, entry: LedgerEntry): LedgerEntry =>
  grant?.salt ? { ...entry, grant: { ...termsAt(grant, entry.at), salt: grant.salt } } : entry;

/**
 * Tells whether an entry was written for this posting (`written`), or for another posting with the same id (`used`). Only the salt of
 * a grant differs between two charges with the same id. A manual entry has no grant, but an audit entry with an id of its own.
 */
function recognise({ grant, memo }: Posting, entry: LedgerEntry): Written {
  const isOfPosting = grant ? entry.grant?.salt === grant.salt : entry.memo?.audit?.id === memo?.audit?.id;
  return { outcome: isOfPosting ? 'written' : 'used', entry };
}
