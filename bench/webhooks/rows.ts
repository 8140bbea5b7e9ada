import { type Count, lateness } from './counting.ts';
import { pathOf } from './endpoints.ts';
import type { Pass } from './passes.ts';

/** A line of the table. Events per second; milliseconds from due to sent. */
export interface WebhookRow {
  id: 'idle' | 'alone' | 'beside' | 'all' | 'flood' | 'drain';
  title: string;
  events: number;
  /** Undefined if events were not accepted one by one. */
  accepted: number | undefined;
  /** Events with a 2xx, per second from the first exchange or the due time to the last arrival. */
  delivered: number;
  p50: number;
  p95: number;
  p99: number;
  /** Microseconds of processor time per event, exchanges included; undefined if other work took part. */
  cpu: { server: number; database: number } | undefined;
}

export interface WebhookFigures {
  rows: WebhookRow[];
  /** Over all sent events. */
  counted: Count;
}

/** The partners whose events a line shows. */
export type Line = Pick<WebhookRow, 'id' | 'title'> & { partners: readonly number[] };

export function rowOf({ id, title, partners }: Line, pass: Pass): WebhookRow {
  const { accepted, startedAt, seconds, arrivals, lags, cpuSeconds } = pass;
  const paths = new Set(partners.map(pathOf));
  const came = arrivals.filter(({ path }) => paths.has(path));
  const delivered = came.filter(({ acknowledged }) => acknowledged);
  const last = delivered.reduce((latest, { at }) => Math.max(latest, at), startedAt);
  const events = [...accepted].reduce((sum, [path, each]) => (paths.has(path) ? sum + each : sum), 0);
  const perEvent = (seconds: number) => (seconds / events) * 1e6;
  const { server, database } = cpuSeconds;
  return {
    id,
    title,
    events,
    accepted: seconds === undefined ? undefined : events / seconds,
    delivered: delivered.length / ((last - startedAt) / 1000),
    ...lateness(came, lags),
    cpu:
      came.length === arrivals.length
        ? { server: perEvent(server), database: perEvent(database) }
        : undefined,
  };
}
