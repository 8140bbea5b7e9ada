import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import { createGroupCommit } from '../batching/group-commit.ts';
import { keyed } from '../ids.ts';
import { type CountedGroup, createRequestCounters } from './request-counters.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the minute has rolled over. */
  retryAfter: number;
}

/** Counts one request of `id` against `max` a minute of what `name` names. */
export type RequestLimit = (name: string, id: string, max: number) => Promise<Allowance>;

/** Milliseconds for which counters are kept: a window is a minute, and is read to its end. */
export const windowRetentionMs = 2 * minute;

/** Callers without credentials choose the ids of these: they can be long, and never come again. */
const chosenByCallers: ReadonlySet<string> = new Set(['wrong-secret', 'start', 'sign-in']);

/** Digests and counters that a process remembers: some 2 MB each. */
const remembered = 10_000;

/** A process counts this part of a limit ahead: it asks the database once for so many requests. Lower limits are counted one by one. */
const partAhead = 1 / 500;

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
 * Requests per minute in fixed windows on the wall clock, shared by all processes. Never more than the limit are allowed.
 * Where a limit is 500 or more, a process may refuse while another one has not used what it has counted ahead.
 * A window known to be full is refused without asking the database again.
 */
export function createRequestLimits({ db, clock, key }: Dependencies): RequestLimit {
  const countGroups = createRequestCounters(db);
  const digests = new LRUCache<string, string>({ max: remembered });
  /** The last known counts of counters near their limit, by their ids. */
  const positions = new LRUCache<string, number>({ max: remembered });
  /** Requests that were counted ahead, by their counters. */
  const ahead = new LRUCache<string, number>({ max: remembered });

  /** Counters are named by a keyed digest: an id may be anything, and a caller cannot choose where it is counted. */
  function counterOf(name: string, id: string, minuteNumber: number): string {
    const named = `${name}:${id}`;
    const digest = digests.get(named) ?? keyed(key, ['counter', name, id]).toString('base64url', 0, 16);
    if (!chosenByCallers.has(name)) digests.set(named, digest);
    return `${digest}:${minuteNumber}`;
  }

  function groupOf(counter: string, requests: readonly Request[]): CountedGroup {
    const max = Math.min(...requests.map((request) => request.max));
    const isNear = positions.has(counter);
    return { counter, size: requests.length, ahead: isNear ? 0 : Math.floor(max * partAhead), max };
  }

  /** Whether each request is within its limit; where its counter could not be changed, the error. */
  async function count(requests: readonly Request[]): Promise<(boolean | Error)[]> {
    const groups = [...groupBy(requests, ({ counter }) => counter)].map(([counter, all]) =>
      groupOf(counter, all),
    );
    const results = await countGroups(groups, new Date(clock.now() + windowRetentionMs));
    const counted = new Map(groups.map(({ counter }, n) => [counter, results[n] ?? 'admitted']));
    for (const group of groups) {
      const isTaken = group.ahead > 0 && counted.get(group.counter) === 'admitted';
      if (isTaken) ahead.set(group.counter, (ahead.get(group.counter) ?? 0) + group.ahead);
    }
    return requests.map(({ counter, max }) => {
      const before = counted.get(counter);
      if (typeof before !== 'number') return before instanceof Error ? before : true;
      const position = before + 1;
      counted.set(counter, position);
      positions.set(counter, position);
      return position <= max;
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
    const left = ahead.get(counter) ?? 0;
    if (left > 0) {
      ahead.set(counter, left - 1);
      return { allowed: true, retryAfter };
    }
    if ((positions.get(counter) ?? 0) >= max) return { allowed: false, retryAfter };
    return { allowed: await commitOf(name)({ counter, max }), retryAfter };
  };
}
