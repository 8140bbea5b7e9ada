import type { BulkFilter } from '../../../contracts/admin/bulk.ts';
import type { Clock } from '../../platform/clock.ts';
import { deriveId } from '../../platform/ids.ts';
import type { Delivery, StoredEvent } from '../delivery/delivery.ts';
import type { EventStore } from '../delivery/event-store.ts';
import { composeDelivery, purgeDate } from '../delivery/events.ts';
import type { DeliveryQueryStore } from '../operators/delivery-query-store.ts';
import type { BulkJob, Part } from './bulk-job.ts';
import { type BulkStore, bulkQuery, type Step } from './bulk-store.ts';

interface Settings {
  store: Pick<BulkStore, 'reserve'>;
  events: Pick<EventStore, 'findAll' | 'page' | 'keepUntil'>;
  history: Pick<
    DeliveryQueryStore,
    'page' | 'ofEvents' | 'insert' | 'countOverdue' | 'cancelAll' | 'moveAll'
  >;
  /** Dispatches due deliveries, in this process or another one. */
  dispatch: (stored: readonly Delivery[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  idKey: Uint8Array;
}

/** The most deliveries that one step cancels or reschedules. */
const mostAtOnce = 200;
/** Milliseconds between two such steps, so that other work can use the database. */
const pauseMs = 50;
/** Deliveries become due in groups, every so many milliseconds, because each due time costs a few database commands. */
const quantumMs = 250;
/** Milliseconds until a part whose endpoint is behind is tried again. */
const behindMs = 1_000;
/** A step makes the deliveries of this many milliseconds. The next step begins this long before its deliveries are due. */
const aheadMs = 1_000;

/** What a step does with an event: make a delivery with this id, or nothing, because it was made or must be left out. */
type Fate = { id: string; from?: Delivery } | 'made' | 'left out';

/** A document that a filter has found: a delivery, or the event itself. */
type Found = Pick<Delivery, '_id' | 'createdAt' | 'eventId'>;

interface Composed {
  deliveries: Delivery[];
  nextAt: Date;
}

/** Whether a filter matches a delivery, whose status may have changed since it was found. */
function matchesFilter({ status = 'failed', since, until }: BulkFilter, delivery: Delivery): boolean {
  const at = delivery.createdAt.toISOString();
  return delivery.status === status && at >= (since ?? '') && at < (until ?? '');
}

/** The result of a step: what it did, and where the next one continues. */
interface Progress {
  done: number;
  leftOut: number;
  last: { createdAt: Date; _id: string } | undefined;
  /** Whether there may be more documents. */
  more: boolean;
  nextAt: Date;
}

/**
 * The steps of bulk jobs. Any process may repeat a step, whole or in part, because the ids of new deliveries are derived
 * from the deliveries that are sent again.
 */
export function createBulkSteps({ store, events, history, dispatch, clock, idKey }: Settings) {
  const deliveryId = (...cause: string[]) => deriveId(idKey, 'delivery', ['again', ...cause]);

  /** Decides whether an event is sent again. If two jobs send the same failed delivery again, they make one delivery. */
  function fateOf(job: BulkJob, eventId: string, deliveries: readonly Delivery[]): Fate {
    if (deliveries.some(({ bulkId }) => bulkId === job._id)) return 'made';
    const isRepeat = job.action === 'replay' || job.filter.status === 'delivered';
    const blocking = isRepeat ? ['pending', 'in_flight'] : ['pending', 'in_flight', 'delivered'];
    if (deliveries.some(({ status }) => blocking.includes(status))) return 'left out';
    const last = deliveries.at(-1);
    const from = last ? { from: last } : {};
    return { id: isRepeat || !last ? deliveryId(job._id, eventId) : deliveryId(last._id), ...from };
  }

  /** Decides for each event of a page. An event counts once, with its first delivery that matches the filter. */
  async function fatesOf(job: BulkJob, page: readonly Found[]): Promise<Map<string, Fate>> {
    const known = new Map<string, Delivery[]>(page.map(({ eventId }) => [eventId, []]));
    for (const one of await history.ofEvents([...known.keys()])) known.get(one.eventId)?.push(one);
    const fates = new Map<string, Fate>();
    for (const { _id, eventId } of page) {
      const deliveries = known.get(eventId) ?? [];
      const isFirst =
        eventId === _id || deliveries.find((one) => matchesFilter(job.filter, one))?._id === _id;
      if (isFirst) fates.set(eventId, fateOf(job, eventId, deliveries));
    }
    return fates;
  }

  /** Makes new deliveries of events. Each is due at its place in the key's sequence. */
  async function compose(job: BulkJob, keyId: string, fates: ReadonlyMap<string, Fate>): Promise<Composed> {
    const wanted = [...fates].flatMap(([id, fate]) =>
      typeof fate === 'string' ? [] : [[id, fate] as const],
    );
    const stored = await events.findAll(wanted.map(([id]) => id));
    const now = new Date(clock.now());
    const spacing = 1000 / job.rate;
    const first = stored.size > 0 ? await store.reserve(keyId, now, { count: stored.size, spacing }) : now;
    const dueAt = (place: number): Date => {
      const exact = first.getTime() + place * spacing;
      return new Date(Math.max(now.getTime(), Math.floor(exact / quantumMs) * quantumMs));
    };
    const origin = { trigger: 'resend' as const, now, bulkId: job._id, operatorId: job.operatorId };
    const deliveries: Delivery[] = [];
    for (const [eventId, { id, from }] of wanted) {
      const event: StoredEvent | undefined = stored.get(eventId);
      if (!event) continue;
      const resendOf = from ? { resendOf: from._id } : {};
      deliveries.push(
        composeDelivery(event, { ...origin, ...resendOf, id, dueAt: dueAt(deliveries.length) }),
      );
    }
    const end = first.getTime() + deliveries.length * spacing - aheadMs;
    return { deliveries, nextAt: new Date(Math.max(now.getTime(), end)) };
  }

  /** Sends the events of a page again. */
  async function sendAgain({ job, part }: Step, page: readonly Found[]) {
    const fates = await fatesOf(job, page);
    const { deliveries, nextAt } = await compose(job, part.keyId, fates);
    const eventIds = deliveries.map(({ eventId }) => eventId);
    await events.keepUntil(eventIds, purgeDate(new Date(clock.now())));
    await history.insert(deliveries);
    await dispatch(deliveries);
    const done = deliveries.length + [...fates.values()].filter((fate) => fate === 'made').length;
    return { done, leftOut: fates.size - done, nextAt };
  }

  const pageOf = ({ job: { action, filter }, part }: Step, limit: number) => ({
    query: { ...bulkQuery(action, filter), keyId: part.keyId },
    page: { limit, ...(part.after ? { after: part.after } : {}) },
  });

  async function resend(step: Step, limit: number): Promise<Progress> {
    const { query, page } = pageOf(step, limit);
    const isReplay = step.job.action === 'replay';
    const found: Found[] = isReplay
      ? (await events.page(query, page)).map(({ _id, createdAt }) => ({ _id, createdAt, eventId: _id }))
      : await history.page(query, page);
    const sent =
      found.length > 0
        ? await sendAgain(step, found)
        : { done: 0, leftOut: 0, nextAt: new Date(clock.now()) };
    return { ...sent, last: found.at(-1), more: found.length === limit };
  }

  async function change(step: Step): Promise<Progress> {
    const { query, page } = pageOf(step, mostAtOnce);
    const found = await history.page(query, page);
    const now = new Date(clock.now());
    const { at, rate } = step.job;
    const done = at
      ? await history.moveAll(
          found.map(({ _id }, place) => ({ _id, at: placeAfter(at, (step.part.done + place) / rate) })),
        )
      : await history.cancelAll(
          found.map(({ _id }) => _id),
          now,
        );
    return {
      done,
      leftOut: found.length - done,
      last: found.at(-1),
      more: found.length === mostAtOnce,
      nextAt: new Date(now.getTime() + pauseMs),
    };
  }

  /** Takes one step. @returns the part after the step */
  return async (step: Step): Promise<Part> => {
    const { job, part } = step;
    const now = new Date(clock.now());
    const { isBehind: _before, ...rest } = part;
    const sends = job.action === 'resend' || job.action === 'replay';
    if (sends) {
      const most = Math.max(20, 2 * job.rate);
      const overdue = await history.countOverdue(part.keyId, now, most);
      if (overdue >= most) return { ...rest, isBehind: true, nextAt: new Date(now.getTime() + behindMs) };
    }
    const { done, leftOut, last, more, nextAt } = await (sends
      ? resend(step, Math.ceil((job.rate * aheadMs) / 1000))
      : change(step));
    const after = last ? { after: { createdAt: last.createdAt, _id: last._id } } : {};
    return {
      ...rest,
      ...after,
      done: part.done + done,
      leftOut: part.leftOut + leftOut,
      nextAt,
      finished: !more,
    };
  };
}

/** A time some whole seconds later, because the scheduler's jobs are for whole seconds. */
const placeAfter = (at: Date, seconds: number): Date => new Date(at.getTime() + Math.floor(seconds) * 1000);
