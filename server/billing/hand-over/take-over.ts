import { LRUCache } from 'lru-cache';
import type { DeadlineSignal } from '../../../contracts/charge.ts';
import { open, seal } from '../../platform/keys/authenticated-json.ts';
import type { Posting } from '../ledger/page-builder.ts';
import type { Base } from './hand-over.ts';
import { type Answer, type Reply, type Request, withDates } from './messages.ts';

/** A request is refused if the clocks of the two processes differ by more than this, in milliseconds. */
const oldestRequestMs = 5_000;
/** The most processes whose last request is remembered. */
const rememberedSenders = 1_000;
/** The most postings of other processes that wait at the same time. */
const mostPostings = 4_096;

/** The receiving side of a hand-over: writes postings of other processes, and replies with the results. */
export function createTakeOver({ self, keys, local, clock, uptime }: Base) {
  const lastNonces = new LRUCache<string, number>({ max: rememberedSenders });
  /** The positions of the postings that were cancelled, for each request in progress. */
  const cancellations = new Map<string, Set<number>>();
  const requestKey = (from: string, n: number) => `${from} ${n}`;
  /** The number of postings of other processes that are being written. */
  let waiting = 0;

  async function write(posting: Posting, signal: DeadlineSignal): Promise<Answer> {
    try {
      const written = await local.write(posting, { signal });
      if (written.outcome !== 'written') return written;
      // The sender made the grant, so the reply can leave it out.
      const { grant: _grant, ...entry } = written.entry;
      return { outcome: 'written', entry };
    } catch (error) {
      // If the signal was aborted before the posting was sent, the ledger writer throws the signal's reason as the cause.
      const isDropped = error instanceof Error && error.cause === signal.reason;
      return { outcome: isDropped ? 'dropped' : 'failed' };
    }
  }

  /** Writes postings, except those that are cancelled, whose time is over, or whose connection has ended before they are sent. */
  async function writeAll({ from, n, at, postings }: Request, isClosed: () => boolean): Promise<Answer[]> {
    const cancelled = new Set<number>();
    cancellations.set(requestKey(from, n), cancelled);
    waiting += postings.length;
    // When the request was sent, on the clock of `uptime`. It may have waited in a buffer of the network since then.
    const sentAt = uptime() - Math.max(0, clock.now() - at);
    const writing = postings.map(({ posting, withinMs }, position) =>
      write(withDates(posting), {
        reason: new Error('another process or its caller waits no longer'),
        // The ledger writer reads this just before it sends a page.
        get aborted() {
          return cancelled.has(position) || uptime() >= sentAt + withinMs || isClosed();
        },
      }),
    );
    const answers = await Promise.all(writing);
    waiting -= postings.length;
    cancellations.delete(requestKey(from, n));
    return answers;
  }

  /**
   * @param isClosed whether the connection of the request has ended
   * @returns the reply, or a status: 401 if the request is not authentic, repeated or late; 503 if this process is busy
   */
  return async function takeOver(sealed: string, isClosed: () => boolean): Promise<string | 401 | 503> {
    const request = open<Request>(keys.request, sealed);
    if (request?.version !== 1 || request.to !== self) return 401;
    const { from, n, at, postings, abort } = request;
    const isRepeated = n <= (lastNonces.get(from) ?? 0);
    if (isRepeated || Math.abs(clock.now() - at) > oldestRequestMs) return 401;
    lastNonces.set(from, n);
    const cancelled = abort && cancellations.get(requestKey(from, abort.n));
    for (const position of abort?.positions ?? []) cancelled?.add(position);
    // Without a trusted clock, this process cannot know which postings are late.
    if (!clock.trusted() || waiting + postings.length > mostPostings) return 503;
    return seal(keys.reply, { to: from, n, answers: await writeAll(request, isClosed) } satisfies Reply);
  };
}
