import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import { createGroupCommit } from '../batching/group-commit.ts';
import { keyed } from '../ids.ts';
import { type Counted, type CountedGroup, createRequestCounters } from './request-counters.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the next minute begins. */
  retryAfter: number;
}

/** Counts one request of `id` against the limit `name`, which allows `max` requests a minute. */
export type RequestLimit = (name: string, id: string, max: number) => Promise<Allowance>;

/** How long counters are kept, in milliseconds: a window is a minute long. */
export const windowRetentionMs = 2 * minute;

/** Limits whose ids are chosen by callers without credentials. The digests of these ids are not cached. */
const chosenByCallers: ReadonlySet<string> = new Set(['wrong-secret', 'start', 'sign-in']);

/** How many digests and counters a process remembers, about 2 MB each. */
const cacheSize = 10_000;

/** A process counts this part of a limit in advance with one command. Limits below 500 are not counted in advance. */
const partAhead = 1 / 500;

interface Dependencies {
  db: Db;
  clock: { now(): number };
  /** The HMAC key of counters' ids, the same in all processes. */
  key: Uint8Array;
}

/** One request, and its counter's id. */
interface Request {
  counter: string;
  max: number;
}

/**
 * Limits requests per minute, in fixed windows on the wall clock that all processes share. Never allows more than the limit.
 * With limits of 500 or more, a process may refuse a request while another process has requests left that it counted in
 * advance. A window that is known to be full needs no further command.
 */
export function createRequestLimits({ db, clock, key }: Dependencies): RequestLimit {
  const countGroups = createRequestCounters(db);
  const digests = new LRUCache<string, string>({ max: cacheSize });
  /** The last known counts, by counter, of counters near their limit. */
  const positions = new LRUCache<string, number>({ max: cacheSize });
  /** The number of requests that were counted in advance, by counter. */
  const ahead = new LRUCache<string, number>({ max: cacheSize });

  /** The id of a counter begins with a keyed digest, so that callers cannot choose it. */
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

  /** Notes the requests that were counted in advance. @param results the results of the groups, in their order */
  function noteAhead(groups: readonly CountedGroup[], results: readonly Counted[]): void {
    for (const [n, { counter, ahead: count }] of groups.entries()) {
      if (results[n] === 'admitted' && count > 0) ahead.set(counter, (ahead.get(counter) ?? 0) + count);
    }
  }

  /** Whether each request is within its limit; an error if its counter could not be changed. */
  async function count(requests: readonly Request[]): Promise<(boolean | Error)[]> {
    const groups = [...groupBy(requests, ({ counter }) => counter)].map(([counter, all]) =>
      groupOf(counter, all),
    );
    const results = await countGroups(groups, new Date(clock.now() + windowRetentionMs));
    noteAhead(groups, results);
    const resultOf = new Map(groups.map(({ counter }, n) => [counter, results[n] ?? 'admitted']));
    return requests.map(({ counter, max }) => {
      const result = resultOf.get(counter);
      if (result instanceof Error) return result;
      if (typeof result !== 'number') return true;
      // `result` is the count before this request. The next request of the counter begins one higher.
      const position = result + 1;
      resultOf.set(counter, position);
      positions.set(counter, position);
      return position <= max;
    });
  }

  /** A group commit for each name, so that one limit does not wait for the counters of another. */
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
