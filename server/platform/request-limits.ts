import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { groupBy } from './group-by.ts';
import { createGroupCommit } from './group-commit.ts';
import { keyed } from './ids.ts';
import { createRequestCounters } from './request-counters.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the minute has rolled over. */
  retryAfter: number;
}

/** Counts one request of `id` against `max` a minute of what `name` names. */
export type RequestLimit = (name: string, id: string, max: number) => Promise<Allowance>;

/** Callers without credentials choose the ids of these: they can be long, and never come again. */
const chosenByCallers: ReadonlySet<string> = new Set(['wrong-secret', 'start']);

/** Digests, and full counters, that a process remembers: some 2 MB each. */
const remembered = 10_000;

interface Dependencies {
  db: Db;
  clock: { now(): number };
  /** The same for all processes. */
  key: Uint8Array;
}

/** One request, and its counter's id. */
interface Request {
  counter: string;
  max: number;
}

/**
 * Requests per minute in fixed windows on the wall clock, shared by all processes and exact over them.
 * A window known to be full is refused without asking the database again.
 */
export function createRequestLimits({ db, clock, key }: Dependencies): RequestLimit {
  const countGroups = createRequestCounters(db);
  const digests = new LRUCache<string, string>({ max: remembered });
  /** What full counters stood at, by their ids. */
  const full = new LRUCache<string, number>({ max: remembered });

  /** Counters are named by a keyed digest: an id may be anything, and a caller cannot choose where it is counted. */
  function counterOf(name: string, id: string, minuteNumber: number): string {
    const named = `${name}:${id}`;
    const digest = digests.get(named) ?? keyed(key, ['counter', name, id]).toString('base64url', 0, 16);
    if (!chosenByCallers.has(name)) digests.set(named, digest);
    return `${digest}:${minuteNumber}`;
  }

  /** Whether each request is within its limit; where its counter could not be changed, the error. */
  async function count(requests: readonly Request[]): Promise<(boolean | Error)[]> {
    const groups = [...groupBy(requests, ({ counter }) => counter)].map(([counter, all]) => ({
      counter,
      size: all.length,
      max: Math.min(...all.map(({ max }) => max)),
    }));
    const results = await countGroups(groups, new Date(clock.now() + 2 * minute));
    const counted = new Map(groups.map(({ counter }, n) => [counter, results[n]]));
    return requests.map(({ counter, max }) => {
      const before = counted.get(counter);
      if (typeof before !== 'number') return before instanceof Error ? before : true;
      const number = before + 1;
      counted.set(counter, number);
      if (number >= max) full.set(counter, number);
      return number <= max;
    });
  }

  /** A group commit for each name, so that the counters of one do not wait for another's. */
  const commits = new Map<string, (request: Request) => Promise<boolean>>();
  function commitOf(name: string): (request: Request) => Promise<boolean> {
    const commit = commits.get(name) ?? createGroupCommit<Request, boolean>({ run: count });
    commits.set(name, commit);
    return commit;
  }

  return async function limit(name: string, id: string, max: number): Promise<Allowance> {
    const now = clock.now();
    const start = windowStart(now, minute);
    const retryAfter = secondsUntilRollover(start, minute, now);
    const counter = counterOf(name, id, start / minute);
    if ((full.get(counter) ?? 0) >= max) return { allowed: false, retryAfter };
    return { allowed: await commitOf(name)({ counter, max }), retryAfter };
  };
}
