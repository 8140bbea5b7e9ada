import { percentile } from '../statistics.ts';
import type { Arrival } from './endpoints.ts';

/** Milliseconds between the due time and the sending of an attempt, by `attemptKey`. */
export type Lags = ReadonlyMap<string, number>;

export const attemptKey = ({ eventId, attempt }: { eventId: string; attempt: number }): string =>
  `${eventId} ${attempt}`;

/** The receiver's counts. */
export interface Count {
  events: number;
  /** Events that never arrived, or never got a 2xx at an endpoint that answers with 2xx. */
  lost: number;
  /** Repeated POSTs of an attempt, or of an event after a 2xx. */
  duplicates: number;
}

/** Lateness of the received POSTs. An attempt without a recorded end is omitted. */
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
 * Compares received events with accepted ones.
 * @param arrivals in the order of arrival
 * @param accepted events by the path of their endpoint
 * @param failing paths that never answer with 2xx; there, a received event is not lost
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
