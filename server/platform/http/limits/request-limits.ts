import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { atMost } from '../../batching/cache-size.ts';
import { groupBy } from '../../batching/group-by.ts';
import { createGroupCommit } from '../../batching/group-commit.ts';
import { ApiError } from '../../errors.ts';
import { keyed } from '../../ids.ts';
import { type Counted, createRequestCounters, type RequestGroup } from './request-counters.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the next minute begins. */
  retryAfter: number;
}

type CountRequest = (name: string, id: string, max: number) => Promise<Allowance>;

/**
 * Counts one request of `id` against the limit `name`.
 * @param limit.refusal the description of the error; by default, the text of the error table
 * @throws ApiError `rate_limited` if the request exceeds the limit
 */
export type RequestLimit = (
  name: string,
  id: string,
  limit: { perMinute: number; refusal?: string },
) => Promise<void>;

/** How long counters are kept, in milliseconds: a window is a minute long. */
export const windowRetentionMs = 2 * minute;

/** The length of the digest in a counter's id. */
const digestBytes = 16;

/** How many counts and reserves a process remembers, about 2 MB each. */
const cacheSize = 10_000;

/**
 * With each command, a process reserves this part of the limit for its later requests, which then need no command. Of a limit
 * below 500, this part is less than one request, so nothing is reserved.
 */
const reservedPart = 1 / 500;

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
 * Counts requests against limits per minute, in fixed windows on the wall clock that all processes share. Never allows more
 * than the limit. With limits of 500 or more, a process may refuse a request while another process still has a reserve.
 */
export function createRequestCounts({ db, clock, key }: Dependencies): CountRequest {
  const countGroups = createRequestCounters(db);
  /** The count of each counter that has come near its limit, as this process has last seen it. */
  const lastCounts = new LRUCache<string, number>(atMost(cacheSize));
  /** How many requests of each counter this process has reserved and not used yet. */
  const reserves = new LRUCache<string, number>(atMost(cacheSize));

  /** The id of a counter begins with a keyed digest, so that callers cannot choose it. */
  const counterOf = (name: string, id: string, minuteNumber: number): string =>
    `${keyed(key, ['counter', name, id]).toString('base64url', 0, digestBytes)}:${minuteNumber}`;

  function groupOf(counter: string, requests: readonly Request[]): RequestGroup {
    const max = Math.min(...requests.map((request) => request.max));
    // The count is known after a group with its reserve has exceeded the limit. Then there is no room for another reserve.
    const reserved = lastCounts.has(counter) ? 0 : Math.floor(max * reservedPart);
    return { counter, waiting: requests.length, reserved, max };
  }

  /** Keeps the reserves of the groups that were admitted. Those of the other groups were not counted. */
  function addReserves(groups: readonly RequestGroup[], results: ReadonlyMap<string, Counted>): void {
    for (const { counter, reserved } of groups) {
      if (reserved === 0 || results.get(counter) !== 'admitted') continue;
      reserves.set(counter, (reserves.get(counter) ?? 0) + reserved);
    }
  }

  /** Whether each request is within its limit; an error if its counter could not be changed. */
  async function count(requests: readonly Request[]): Promise<(boolean | Error)[]> {
    const byCounter = groupBy(requests, ({ counter }) => counter);
    const groups = [...byCounter].map(([counter, ofCounter]) => groupOf(counter, ofCounter));
    const results = await countGroups(groups, new Date(clock.now() + windowRetentionMs));
    addReserves(groups, results);
    return requests.map(({ counter, max }) => {
      const result = results.get(counter) ?? 'admitted'; // Every group has a result.
      if (result instanceof Error) return result;
      if (result === 'admitted') return true;
      // Not the whole group is within the limit, so its requests are counted one by one.
      result.count += 1;
      lastCounts.set(counter, result.count);
      return result.count <= max;
    });
  }

  /** A group commit for each name, so that one limit does not wait for the counters of another. */
  const commits = new Map<string, (request: Request) => Promise<boolean>>();
  function commitOf(name: string): (request: Request) => Promise<boolean> {
    const commit = commits.get(name) ?? createGroupCommit<Request, boolean>({ run: count });
    commits.set(name, commit);
    return commit;
  }

  return async function countRequest(name: string, id: string, max: number): Promise<Allowance> {
    const now = clock.now();
    const start = windowStart(now, minute);
    const retryAfter = secondsUntilRollover(start, minute, now);
    const counter = counterOf(name, id, start / minute);
    const reserve = reserves.get(counter) ?? 0;
    if (reserve > 0) {
      reserves.set(counter, reserve - 1);
      return { allowed: true, retryAfter };
    }
    const isKnownToBeFull = (lastCounts.get(counter) ?? 0) >= max;
    if (isKnownToBeFull) return { allowed: false, retryAfter };
    return { allowed: await commitOf(name)({ counter, max }), retryAfter };
  };
}

/** Limits requests per minute (see `createRequestCounts`). */
export function createRequestLimit(dependencies: Dependencies): RequestLimit {
  const countRequest = createRequestCounts(dependencies);
  return async (name, id, { perMinute, refusal }) => {
    const { allowed, retryAfter } = await countRequest(name, id, perMinute);
    if (!allowed) throw new ApiError('rate_limited', { description: refusal, retryAfter });
  };
}
