import type { BulkFilter } from '../../../contracts/admin/bulk.ts';
import type { Clock } from '../../platform/clock.ts';
import { deriveId } from '../../platform/ids.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { EventStore } from '../delivery/event-store.ts';
import { composeDelivery, purgeDate } from '../delivery/events.ts';
import type { DeliveryQueryStore } from '../operators/delivery-query-store.ts';
import type { BulkJob, Part } from './bulk-job.ts';
import { type BulkStore, bulkQuery, type Step } from './bulk-store.ts';

interface Settings {
  store: Pick<BulkStore, 'reserve'>;
  events: Pick<EventStore, 'findAll' | 'page' | 'keepUntil'>;
  history: Pick<DeliveryQueryStore, 'page' | 'ofEvents' | 'countOverdue' | 'cancelAll' | 'moveAll'>;
  /** Stores new deliveries, and dispatches the due ones in this process or another one. */
  insertAndDispatch: (deliveries: readonly Delivery[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  idKey: Uint8Array;
}

/** The most deliveries that one step cancels or reschedules. */
const mostPerStep = 200;
/** Milliseconds between two steps that cancel or reschedule, so that other work can use the database. */
const pauseMs = 50;
/** Due times are multiples of this, in milliseconds, because each different due time costs a few database commands. */
const dueTimeStepMs = 250;
/** Milliseconds until a part whose endpoint is behind is tried again. */
const retryBehindAfterMs = 1_000;
/** A step makes the deliveries of this many milliseconds. Each step begins this long before its deliveries are due. */
const aheadMs = 1_000;

/**
 * What a step does with an event. It makes a delivery with this id, as a resend of `from`. It makes none if the job has
 * made the event's delivery already, or must leave the event out.
 */
type Fate = { id: string; from?: Delivery } | 'made' | 'left out';

/** A document that a filter has found: a delivery, or the event itself. */
type Found = Pick<Delivery, '_id' | 'createdAt' | 'eventId'>;

/** New deliveries of a page of events, and when the next step is due. */
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
export function createBulkSteps({ store, events, history, insertAndDispatch, clock, idKey }: Settings) {
  const deliveryId = (...cause: string[]) => deriveId(idKey, 'delivery', ['again', ...cause]);

  /** Decides whether an event is sent again. If two jobs send the same failed delivery again, they make one delivery. */
  function decideFate(job: BulkJob, eventId: string, deliveries: readonly Delivery[]): Fate {
    if (deliveries.some(({ bulkId }) => bulkId === job._id)) return 'made';
    const isRepeat = job.action === 'replay' || job.filter.status === 'delivered';
    const blocking = isRepeat ? ['pending', 'in_flight'] : ['pending', 'in_flight', 'delivered'];
    if (deliveries.some(({ status }) => blocking.includes(status))) return 'left out';
    const last = deliveries.at(-1);
    const from = last ? { from: last } : {};
    return { id: isRepeat || !last ? deliveryId(job._id, eventId) : deliveryId(last._id), ...from };
  }

  /** Decides which events of a page are sent again. An event counts once, with its first delivery that matches the filter. */
  async function decideFates(job: BulkJob, page: readonly Found[]): Promise<Map<string, Fate>> {
    const known = new Map<string, Delivery[]>(page.map(({ eventId }) => [eventId, []]));
    for (const delivery of await history.ofEvents([...known.keys()]))
      known.get(delivery.eventId)?.push(delivery);
    const fates = new Map<string, Fate>();
    for (const { _id, eventId } of page) {
      const deliveries = known.get(eventId) ?? [];
      const isFirst =
        eventId === _id || deliveries.find((one) => matchesFilter(job.filter, one))?._id === _id;
      if (isFirst) fates.set(eventId, decideFate(job, eventId, deliveries));
    }
    return fates;
  }

  /** Reserves places in the key's sequence. @returns the due time of each place, and when the next step is due */
  async function reserveDueTimes(
    { rate }: BulkJob,
    keyId: string,
    { count, now }: { count: number; now: Date },
  ) {
    const spacing = 1000 / rate;
    const first = count > 0 ? await store.reserve(keyId, now, { count, spacing }) : now;
    const notBeforeNow = (ms: number): Date => new Date(Math.max(now.getTime(), ms));
    const dueTimes = Array.from({ length: count }, (_, place) => {
      const exactMs = first.getTime() + place * spacing;
      return notBeforeNow(Math.floor(exactMs / dueTimeStepMs) * dueTimeStepMs);
    });
    return { dueTimes, nextAt: notBeforeNow(first.getTime() + count * spacing - aheadMs) };
  }

  /** Makes the new deliveries of events, except of events that were deleted since. */
  async function composeAll(
    job: BulkJob,
    keyId: string,
    fates: ReadonlyMap<string, Fate>,
  ): Promise<Composed> {
    const planned = [...fates].flatMap(([eventId, fate]) =>
      typeof fate === 'string' ? [] : [{ eventId, ...fate }],
    );
    const stored = await events.findAll(planned.map(({ eventId }) => eventId));
    const wanted = planned.flatMap(({ eventId, ...plan }) => {
      const event = stored.get(eventId);
      return event ? [{ event, ...plan }] : [];
    });
    const now = new Date(clock.now());
    const { dueTimes, nextAt } = await reserveDueTimes(job, keyId, { count: wanted.length, now });
    const origin = { trigger: 'resend' as const, now, bulkId: job._id, operatorId: job.operatorId };
    const deliveries = wanted.map(({ event, id, from }, place) => {
      const resendOf = from ? { resendOf: from._id } : {};
      return composeDelivery(event, { ...origin, ...resendOf, id, dueAt: dueTimes[place] ?? now });
    });
    return { deliveries, nextAt };
  }

  /** Makes and stores new deliveries for the events of a page. */
  async function sendEventsAgain({ job, part }: Step, page: readonly Found[]) {
    const fates = await decideFates(job, page);
    const { deliveries, nextAt } = await composeAll(job, part.keyId, fates);
    const eventIds = deliveries.map(({ eventId }) => eventId);
    await events.keepUntil(eventIds, purgeDate(new Date(clock.now())));
    await insertAndDispatch(deliveries);
    const done = deliveries.length + [...fates.values()].filter((fate) => fate === 'made').length;
    return { done, leftOut: fates.size - done, nextAt };
  }

  /** Finds the next documents of a part. A replay reads events, all other actions read deliveries. */
  async function findPage({ job: { action, filter }, part }: Step, limit: number): Promise<Found[]> {
    const query = { ...bulkQuery(action, filter), keyId: part.keyId };
    const page = { limit, ...(part.after ? { after: part.after } : {}) };
    if (action !== 'replay') return history.page(query, page);
    const found = await events.page(query, page);
    return found.map(({ _id, createdAt }) => ({ _id, createdAt, eventId: _id }));
  }

  async function resendOrReplayPage(step: Step): Promise<Progress> {
    const limit = Math.ceil((step.job.rate * aheadMs) / 1000);
    const page = await findPage(step, limit);
    const sent =
      page.length > 0
        ? await sendEventsAgain(step, page)
        : { done: 0, leftOut: 0, nextAt: new Date(clock.now()) };
    return { ...sent, last: page.at(-1), more: page.length === limit };
  }

  async function cancelOrReschedulePage(step: Step): Promise<Progress> {
    const page = await findPage(step, mostPerStep);
    const now = new Date(clock.now());
    const { at, rate } = step.job;
    const ids = page.map(({ _id }) => _id);
    const done = at
      ? await history.moveAll(
          ids.map((_id, place) => ({ _id, at: addWholeSeconds(at, (step.part.done + place) / rate) })),
        )
      : await history.cancelAll(ids, now);
    return {
      done,
      leftOut: page.length - done,
      last: page.at(-1),
      more: page.length === mostPerStep,
      nextAt: new Date(now.getTime() + pauseMs),
    };
  }

  /** Takes one step. @returns the part after the step */
  return async (step: Step): Promise<Part> => {
    const { job, part } = step;
    const now = new Date(clock.now());
    const { isBehind: _wasBehind, ...rest } = part;
    const makesDeliveries = job.action === 'resend' || job.action === 'replay';
    if (makesDeliveries) {
      const mostOverdue = Math.max(20, 2 * job.rate);
      const overdue = await history.countOverdue(part.keyId, now, mostOverdue);
      if (overdue >= mostOverdue)
        return { ...rest, isBehind: true, nextAt: new Date(now.getTime() + retryBehindAfterMs) };
    }
    const { done, leftOut, last, more, nextAt } = await (makesDeliveries
      ? resendOrReplayPage(step)
      : cancelOrReschedulePage(step));
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

/** Adds seconds to a time, rounded down, because the scheduler's jobs are for whole seconds. */
const addWholeSeconds = (at: Date, seconds: number): Date =>
  new Date(at.getTime() + Math.floor(seconds) * 1000);
