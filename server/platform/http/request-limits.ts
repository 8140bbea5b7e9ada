import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import { createGroupCommit } from '../batching/group-commit.ts';
import { keyed } from '../ids.ts';
import { type Counted, createRequestCounters, type RequestGroup } from './request-counters.ts';
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

/**
 * Limits whose ids are chosen by callers without credentials. The digests of these ids are not cached, because the ids can
 * be long and may never come again.
 */
const chosenByCallers: ReadonlySet<string> = new Set(['wrong-secret', 'start', 'sign-in']);

/** How many digests and counters a process remembers, about 2 MB each. */
const cacheSize = 10_000;

/**
 * The part of a limit that a command counts in advance, for later requests of this process. They then need no command. Limits
 * below 500 are not counted in advance.
 */
const partInAdvance = 1 / 500;

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
  /** The last known count of each counter that has come near its limit. */
  const knownCounts = new LRUCache<string, number>({ max: cacheSize });
  /** How many requests of this process each counter includes that have not come yet. */
  const countedInAdvance = new LRUCache<string, number>({ max: cacheSize });

  /** The id of a counter begins with a keyed digest, so that callers cannot choose it. */
  function counterOf(name: string, id: string, minuteNumber: number): string {
    const cacheKey = `${name}:${id}`;
    const digest = digests.get(cacheKey) ?? keyed(key, ['counter', name, id]).toString('base64url', 0, 16);
    if (!chosenByCallers.has(name)) digests.set(cacheKey, digest);
    return `${digest}:${minuteNumber}`;
  }

  function groupOf(counter: string, requests: readonly Request[]): RequestGroup {
    const max = Math.min(...requests.map((request) => request.max));
    // A count is known only after a group did not fit with its advance, so a further advance would not fit either.
    const inAdvance = knownCounts.has(counter) ? 0 : Math.floor(max * partInAdvance);
    return { counter, waiting: requests.length, inAdvance, max };
  }

  /** Notes the requests that were counted in advance. They were counted only with groups that were admitted. */
  function noteAdvance(groups: readonly RequestGroup[], results: ReadonlyMap<string, Counted>): void {
    for (const { counter, inAdvance } of groups) {
      if (results.get(counter) !== 'admitted' || inAdvance === 0) continue;
      countedInAdvance.set(counter, (countedInAdvance.get(counter) ?? 0) + inAdvance);
    }
  }

  /** Whether each request is within its limit; an error if its counter could not be changed. */
  async function count(requests: readonly Request[]): Promise<(boolean | Error)[]> {
    const groups = [...groupBy(requests, ({ counter }) => counter)].map(([counter, all]) =>
      groupOf(counter, all),
    );
    const results = await countGroups(groups, new Date(clock.now() + windowRetentionMs));
    noteAdvance(groups, results);
    /** The count after the last request that was checked, of each counter whose group was not admitted as a whole. */
    const reached = new Map<string, number>();
    return requests.map(({ counter, max }) => {
      const result = results.get(counter);
      if (result instanceof Error) return result;
      if (result === undefined || result === 'admitted') return true;
      const countWithThis = (reached.get(counter) ?? result.countBefore) + 1;
      reached.set(counter, countWithThis);
      knownCounts.set(counter, countWithThis);
      return countWithThis <= max;
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
    // An earlier command has counted this request in advance.
    const inAdvance = countedInAdvance.get(counter) ?? 0;
    if (inAdvance > 0) {
      countedInAdvance.set(counter, inAdvance - 1);
      return { allowed: true, retryAfter };
    }
    // The window is known to be full.
    if ((knownCounts.get(counter) ?? 0) >= max) return { allowed: false, retryAfter };
    return { allowed: await commitOf(name)({ counter, max }), retryAfter };
  };
}
