import { LRUCache } from 'lru-cache';
import type { DeadlineSignal } from '../../../contracts/charge.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Posting } from '../page-builder.ts';
import type { Base } from './hand-over.ts';
import { type Answer, open, type Request, seal, withDates } from './messages.ts';

/** A request is refused if the clocks of the two processes differ by more than this, in milliseconds. */
const oldestRequestMs = 5_000;
/** The most processes whose last request is remembered. */
const rememberedSenders = 1_000;
/** The most postings of other processes that wait at the same time. */
const mostPostings = 4_096;

/** The receiving side of a hand-over: writes postings of other processes, and replies with the results. */
export function createTakeOver({ self, keys, local, clock, uptime }: Base) {
  const lastOf = new LRUCache<string, number>({ max: rememberedSenders });
  /** Aborted positions, by sender and request. */
  const underway = new Map<string, Set<number>>();
  let waiting = 0;

  async function write(posting: Posting, signal: DeadlineSignal): Promise<Answer> {
    try {
      const written = await local.write(posting, { signal });
      if (written.outcome !== 'written') return written;
      const { grant: _known, ...entry } = written.entry;
      return { outcome: 'written', entry };
    } catch (error) {
      const isDropped = error instanceof ApiError && error.cause === signal.reason;
      return { outcome: isDropped ? 'dropped' : 'failed' };
    }
  }

  async function writeAll({ from, n, at, postings }: Request, isClosed: () => boolean): Promise<Answer[]> {
    const aborted = new Set<number>();
    underway.set(`${from} ${n}`, aborted);
    waiting += postings.length;
    // Both times are of the database's clock. A request that waited in a buffer has less time left.
    const sentAt = uptime() - Math.max(0, clock.now() - at);
    const writing = postings.map(({ posting, withinMs }, position) =>
      write(withDates(posting), {
        reason: new Error('another process or its caller waits no longer'),
        get aborted() {
          return aborted.has(position) || uptime() >= sentAt + withinMs || isClosed();
        },
      }),
    );
    const answers = await Promise.all(writing);
    waiting -= postings.length;
    underway.delete(`${from} ${n}`);
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
    if (Math.abs(clock.now() - at) > oldestRequestMs || n <= (lastOf.get(from) ?? 0)) return 401;
    lastOf.set(from, n);
    for (const position of abort?.positions ?? []) underway.get(`${from} ${abort?.n}`)?.add(position);
    if (!clock.trusted() || waiting + postings.length > mostPostings) return 503;
    return seal(keys.reply, { to: from, n, answers: await writeAll(request, isClosed) });
  };
}
export type TakeOver = ReturnType<typeof createTakeOver>;
