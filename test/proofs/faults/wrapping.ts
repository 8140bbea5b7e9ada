import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EntryKind } from '../../../contracts/charge.ts';
import type { Parts } from '../../../server/webhooks/webhooks.ts';
import type { Stores } from '../../../server/wiring/stores.ts';
import type { KillPoints, Step } from './kill-points.ts';

type At = KillPoints['at'];

/** `call` with a point before and after it, if `is` selects the call. */
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
  /** Milliseconds by which it is earlier than in the product, so that runs are short. */
  sweptEarlier: number;
  /** The sweep at a start skips the records of a run. */
  maySweep: () => boolean;
}

/** The stores of billing, with a point around every writing step. */
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

/** The delay in milliseconds before the product's second pass of an erasure. */
const secondLookAfter = 60_000;

/**
 * The stores of verification, with a point around the first read of an exchange, and a sweep without a grace period.
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
    users: { ...users, erasedBefore: earlier(users.erasedBefore, secondLookAfter) },
  };
}

/** The parts of webhooks, with a point around every step from the event to the attempt's record. */
export function wrapWebhooks({ events, deliveries, post }: Parts, at: At): Parts {
  return {
    events: { ...events, insert: around(at, 'event', { call: events.insert, is: some }) },
    deliveries: {
      ...deliveries,
      insert: around(at, 'delivery', { call: deliveries.insert, is: some }),
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

/** Points before and after the response 200 to a request: Node announces each request on a channel. */
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

/** Points before and after the response with a token. */
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
/** Probes have none, so they are excluded. */
const hasPostings = (body: unknown) => String(body).includes('"postings":[{');
const hasAnswers = (body: unknown) => String(body).includes('"answers":[{');

/**
 * Points before a hand-over and after its sending; and at the writer, at its arrival and before the answer. undici
 * announces each request on a channel, too.
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
