import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EntryKind } from '../../../contracts/charge.ts';
import type { Stores } from '../../../server/operations/stores.ts';
import type { Parts } from '../../../server/webhooks/webhooks.ts';
import type { KillPoints, Step } from './kill-points.ts';

type At = KillPoints['at'];

/** Returns `call` with a point before and after it, if `is` selects the call. */
function around<Args extends unknown[], Result>(
  at: At,
  step: Step,
  { call, is = () => true }: { call: (...args: Args) => Promise<Result>; is?: (...args: Args) => boolean },
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    if (!is(...args)) return call(...args);
    await at(`${step}:before`);
    const result = await call(...args);
    await at(`${step}:after`);
    return result;
  };
}

const some = (documents: readonly unknown[]) => documents.length > 0;

/** The step of an insert of ledger pages, recognised by one of its entries. */
const inserts: [Step, EntryKind][] = [
  ['page', 'token'],
  ['funding', 'funding'],
  ['refund', 'refund'],
  ['caps', 'caps'],
  ['fence', 'fence'],
];

/** The time after which a sweep handles unfinished work. */
export interface Sweeping {
  /** How much earlier than in the product the sweep handles work, in milliseconds, so that runs are short. */
  sweptEarlier: number;
  /** Returns whether the sweep may run. The sweep at a start must leave the records of a run to the fault. */
  maySweep: () => boolean;
}

/** Wraps the stores of billing: puts points before and after every step that writes. */
export function wrapBilling(
  { ledger, ...rest }: Stores['billing'],
  at: At,
  sweeping: Sweeping,
): Stores['billing'] {
  let { insert } = ledger;
  for (const [step, kind] of inserts) {
    const is = (pages: Parameters<typeof insert>[0]) =>
      pages.some(({ entries }) => entries.some((entry) => entry.kind === kind));
    insert = around(at, step, { call: insert, is });
  }
  return {
    ...rest,
    ledger: {
      ...ledger,
      insert,
      unpublished: async (before, limit) =>
        sweeping.maySweep()
          ? ledger.unpublished(new Date(before.getTime() + sweeping.sweptEarlier), limit)
          : [],
      markPublished: around(at, 'unset', { call: ledger.markPublished, is: some }),
    },
  };
}

/** The delay of the second pass of an erasure in the product, in milliseconds. */
const secondPassAfterMs = 60_000;

/**
 * Wraps the stores of verification: puts points before and after the first read of an exchange, and removes the grace period
 * of the sweep.
 */
export function wrapVerification(
  { sessions, users, enrollments, ...rest }: Stores['verification'],
  at: At,
  { sweptEarlier, maySweep }: Sweeping,
): Stores['verification'] {
  const earlier = <Due>(find: (before: Date, limit: number) => Promise<Due>, by: number) =>
    ((before, limit) => find(new Date(before.getTime() + (maySweep() ? by : 0)), limit)) as typeof find;
  return {
    sessions: {
      ...sessions,
      findByCodes: around(at, 'session', { call: sessions.findByCodes, is: some }),
      unpublished: earlier(sessions.unpublished, sweptEarlier),
      dueForEnrollment: earlier(sessions.dueForEnrollment, sweptEarlier),
    },
    ...rest,
    enrollments,
    users: { ...users, erasedBefore: earlier(users.erasedBefore, secondPassAfterMs) },
  };
}

/** Wraps the parts of webhooks: puts points before and after every step from the event to the record of its attempt. */
export function wrapWebhooks({ events, deliveries, post }: Parts, at: At): Parts {
  return {
    events: { ...events, insert: around(at, 'event', { call: events.insert, is: some }) },
    deliveries: {
      ...deliveries,
      insert: around(at, 'delivery', { call: deliveries.insert, is: some }),
      insertLeased: around(at, 'delivery', { call: deliveries.insertLeased, is: some }),
      lease: around(at, 'lease', { call: deliveries.lease }),
      record: around(at, 'record', { call: deliveries.record }),
    },
    post: around(at, 'post', { call: post }),
  };
}

interface Exchanged {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Puts points before and after the response 200 to a request. Node announces each request on a channel. */
function watchEnd(
  { response }: Exchanged,
  before: (body: unknown) => Promise<void>,
  after: () => Promise<void>,
): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  const send = async (args: unknown[]): Promise<void> => {
    if (response.statusCode === 200) await before(args[0]);
    end(...args);
    if (response.statusCode === 200) await after();
  };
  response.end = ((...args: unknown[]) => {
    void send(args);
    return response;
  }) as typeof response.end;
}

/** Puts points before and after the response with a token. */
export function watchAnswers(at: At): void {
  subscribe('http.server.request.start', (message) => {
    const exchanged = message as Exchanged;
    if (exchanged.request.url !== '/api/oauth/token') return;
    watchEnd(
      exchanged,
      () => at('answer:before'),
      () => at('answer:after'),
    );
  });
}

const privatePath = '/messages';
/** Returns whether a message has postings. A probe has none, so it reaches no point. */
const hasPostings = (body: unknown) => String(body).includes('"postings":[{');
const hasAnswers = (body: unknown) => String(body).includes('"answers":[{');

/**
 * Puts points before a hand-over and after its sending, and at the writer: at its arrival and before the answer. undici
 * announces each request on a channel.
 */
export function watchHandOvers(at: At): void {
  const watch = (channel: string, point: 'hand-over:before' | 'hand-over:after') =>
    subscribe(channel, (message) => {
      const { request } = message as { request: { path: string; body: unknown } };
      if (request.path === privatePath && hasPostings(request.body)) void at(point);
    });
  watch('undici:request:create', 'hand-over:before');
  watch('undici:request:bodySent', 'hand-over:after');
  subscribe('http.server.request.start', (message) => {
    const exchanged = message as Exchanged;
    if (exchanged.request.url !== privatePath) return;
    void at('take-over:before');
    watchEnd(
      exchanged,
      async (body) => (hasAnswers(body) ? at('take-over:after') : undefined),
      async () => undefined,
    );
  });
}
