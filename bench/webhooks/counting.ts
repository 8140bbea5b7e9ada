import { percentile } from '../statistics.ts';
import type { Arrival } from './endpoints.ts';

/** Milliseconds from when an attempt was due to when it was sent, by `attemptKey`. */
export type Lags = ReadonlyMap<string, number>;

export const attemptKey = ({ eventId, attempt }: { eventId: string; attempt: number }): string =>
  `${eventId} ${attempt}`;

/** What the receiver counted. */
export interface Count {
  events: number;
  /** Events that never came; or never got a 2xx, where the endpoint gives any. */
  lost: number;
  /** POSTs of an attempt that had come before, or of an event that had been answered with 2xx. */
  duplicates: number;
}

/** How late the POSTs were that came; one whose end was not written down is left out. */
export function lateness(
  arrivals: readonly Arrival[],
  lags: Lags,
): { p50: number; p95: number; p99: number } {
  const sorted = Float64Array.from(arrivals.flatMap((arrival) => lags.get(attemptKey(arrival)) ?? [])).sort();
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), p99: percentile(sorted, 0.99) };
}

function duplicatesOf(posts: readonly Arrival[]): number {
  const attempts = new Set<number>();
  let answered = false;
  let duplicates = 0;
  for (const { attempt, acknowledged } of posts) {
    if (answered || attempts.has(attempt)) duplicates += 1;
    attempts.add(attempt);
    answered ||= acknowledged;
  }
  return duplicates;
}

/**
 * Compares what came with what was accepted.
 * @param arrivals in the order in which they came
 * @param accepted events by the path of their endpoint
 * @param failing paths that answer nothing with 2xx: there, what came at all is not lost
 */
export function count(
  arrivals: readonly Arrival[],
  accepted: ReadonlyMap<string, number>,
  failing: ReadonlySet<string>,
): Count {
  const byEvent = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    byEvent.set(arrival.eventId, [...(byEvent.get(arrival.eventId) ?? []), arrival]);
  }
  const came = new Map<string, number>();
  let duplicates = 0;
  for (const posts of byEvent.values()) {
    const path = posts[0]?.path ?? '';
    duplicates += duplicatesOf(posts);
    if (failing.has(path) || posts.some(({ acknowledged }) => acknowledged))
      came.set(path, (came.get(path) ?? 0) + 1);
  }
  const missing = [...accepted].map(([path, events]) => Math.max(0, events - (came.get(path) ?? 0)));
  const events = [...accepted.values()].reduce((sum, each) => sum + each, 0);
  return { events, lost: missing.reduce((sum, each) => sum + each, 0), duplicates };
}
