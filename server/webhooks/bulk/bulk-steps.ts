import { groupBy } from '../../platform/batching/group-by.ts';
import type { Clock } from '../../platform/clock.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { deriveId } from '../../platform/ids.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Due } from '../delivery/due.ts';
import type { EventStore } from '../delivery/event-store.ts';
import { composeDelivery, purgeDate } from '../delivery/events.ts';
import type { DeliveryQueryStore } from '../operators/delivery-query-store.ts';
import type { BulkJob, Part } from './bulk-job.ts';
import {
  type BulkStore,
  bulkQuery,
  type Step,
  sendsDelivered,
  statusToProcess,
  underWay,
  underWayOrDelivered,
} from './bulk-store.ts';

interface Settings {
  store: Pick<BulkStore, 'reserve'>;
  events: Pick<EventStore, 'findAll' | 'page' | 'keepUntil'>;
  deliveryQueries: Pick<
    DeliveryQueryStore,
    'page' | 'ofEvents' | 'countDueRetries' | 'cancelAll' | 'moveAll'
  >;
  /** Stores new deliveries, and sends the due ones in this process or another one. */
  insertAndSend: (deliveries: readonly Delivery[]) => Promise<void>;
  due: Pick<Due, 'retryAt'>;
  clock: Pick<Clock, 'now'>;
  idKey: Uint8Array;
}

/** The most deliveries that one step cancels or reschedules. */
const mostPerStep = 200;
/** Milliseconds between two steps that cancel or reschedule, so that other work can use the database. */
const pauseMs = 50;
/** The new deliveries of one step become due within this time, in milliseconds. */
const stepSpanMs = 1_000;
/** A step begins this many milliseconds before its new deliveries become due, so that they are stored by then. */
const leadMs = 1_000;
/** Due times are multiples of this, in milliseconds, because each different due time costs a few database commands. */
const dueTimeStepMs = 250;
/** Milliseconds until a part whose endpoint is behind is tried again. */
const retryBehindAfterMs = 1_000;
/** With fewer unsent deliveries, an endpoint is not behind, even if the job is slow. */
const fewestBehind = 20;

/** A document that a filter has found: a delivery, or the event itself. */
type Found = Pick<Delivery, '_id' | 'createdAt' | 'eventId'>;

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
 * Whether the filter of a job finds a delivery of an event that it has found. All deliveries of an event have the same key,
 * mode and type, so only status and time are compared.
 */
function matchesFilter({ action, filter }: BulkJob, delivery: Delivery): boolean {
  const createdAt = delivery.createdAt.toISOString();
  const hasStatus = delivery.status === statusToProcess(action, filter);
  return hasStatus && createdAt >= filter.since && createdAt < filter.until;
}

/**
 * Gives each delivery a new due time. In each second from `first` on, at most `rate` deliveries become due.
 * @param movedBefore how many deliveries earlier steps have moved, which occupy the first seconds
 */
function assignDueTimes(
  ids: readonly string[],
  first: Date,
  { rate, movedBefore }: { rate: number; movedBefore: number },
): { _id: string; at: Date }[] {
  return ids.map((_id, index) => {
    // Whole seconds, because the scheduler has one job for each second.
    const secondsAfterFirst = Math.floor((movedBefore + index) / rate);
    return { _id, at: new Date(first.getTime() + secondsAfterFirst * 1000) };
  });
}

/**
 * The steps of bulk jobs. Any process may repeat a step, whole or in part, because the ids of new deliveries are derived
 * from the deliveries that are sent again.
 */
export function createBulkSteps({
  store,
  events,
  deliveryQueries,
  insertAndSend,
  due,
  clock,
  idKey,
}: Settings) {
  const now = (): Date => new Date(clock.now());
  const timeIn = (ms: number): Date => new Date(clock.now() + ms);

  /** The id of the delivery that sends an event again. @param last the newest delivery of the event, if there is one */
  function againId(job: BulkJob, eventId: string, last: Delivery | undefined): string {
    // Two jobs that resend the same failed delivery derive the same id from it, so together they make one delivery. For events
    // that may have arrived, the id depends on the job, so that a later job can send them once more.
    const cause =
      sendsDelivered(job) || !last
        ? [job._id, eventId]
        : [last._id, ...(job.to === undefined ? [] : [job.to])];
    return deriveId(idKey, 'delivery', ['again', ...cause]);
  }

  /**
   * Decides for each event of a page whether it is sent again. An event whose delivery may still arrive is not. `madeCount`
   * counts events whose delivery this job has made already, in a step whose result was not saved.
   */
  async function planPage(job: BulkJob, page: readonly Found[]) {
    const blocking = sendsDelivered(job) ? underWay : underWayOrDelivered;
    const found = await deliveryQueries.ofEvents([...new Set(page.map(({ eventId }) => eventId))]);
    const deliveriesOf = groupBy(found, ({ eventId }) => eventId);
    const plans: { id: string; eventId: string; resendOf?: string }[] = [];
    let [eventCount, madeCount] = [0, 0];
    for (const { _id, eventId } of page) {
      const deliveries = deliveriesOf.get(eventId) ?? [];
      const isEvent = _id === eventId;
      // The filter may find several deliveries of an event, even on different pages. The event counts with the first one only.
      if (!isEvent && deliveries.find((one) => matchesFilter(job, one))?._id !== _id) continue;
      eventCount += 1;
      const last = deliveries.at(-1);
      const origin = last ? { resendOf: last._id } : {};
      const atSameUrl = deliveries.filter(({ to }) => to === job.to);
      if (deliveries.some(({ bulkId }) => bulkId === job._id)) madeCount += 1;
      else if (!atSameUrl.some(({ status }) => blocking.includes(status)))
        plans.push({ id: againId(job, eventId, last), eventId, ...origin });
    }
    return { eventCount, plans, madeCount };
  }

  /**
   * Reserves due times for `count` deliveries of a key, at the rate of the job. All bulk jobs of the key reserve one after
   * another, so that together they do not exceed the rate.
   * @returns a function from a delivery's position to its due time, and when the next step is due
   */
  async function reserveDueTimes({ job: { rate }, part: { keyId } }: Step, count: number, from: Date) {
    const intervalMs = 1000 / rate;
    const first = count > 0 ? await store.reserve(keyId, from, { count, intervalMs }) : from;
    const notBefore = (ms: number): Date => new Date(Math.max(from.getTime(), ms));
    const exactMs = (position: number): number => first.getTime() + position * intervalMs;
    // Rounded down, so that few different due times are needed (`dueTimeStepMs`).
    const dueTimeAt = (position: number): Date =>
      notBefore(Math.floor(exactMs(position) / dueTimeStepMs) * dueTimeStepMs);
    return { dueTimeAt, nextAt: notBefore(exactMs(count) - leadMs) };
  }

  /** Finds the next documents of a part. A replay reads events, all other actions read deliveries. */
  async function findPage({ job: { action, filter }, part }: Step, limit: number): Promise<Found[]> {
    const query = { ...bulkQuery(action, filter), keyId: part.keyId };
    const page = { limit, ...(part.after ? { after: part.after } : {}) };
    if (action !== 'replay') return deliveryQueries.page(query, page);
    const found = await events.page(query, page);
    return found.map(({ _id, createdAt }) => ({ _id, createdAt, eventId: _id }));
  }

  /** Sends the events of the next page again. A page has as many events as the rate allows in the span of a step. */
  async function sendPageAgain(step: Step): Promise<Progress> {
    const { job } = step;
    const limit = Math.ceil((job.rate * stepSpanMs) / 1000);
    const page = await findPage(step, limit);
    const { eventCount, plans, madeCount } = await planPage(job, page);
    const stored = await events.findAll(plans.map(({ eventId }) => eventId));
    // Events that have expired are left out.
    const existing = plans.flatMap(({ eventId, ...plan }) => {
      const event = stored.get(eventId);
      return event ? [{ event, plan }] : [];
    });
    const at = now();
    const { dueTimeAt, nextAt } = await reserveDueTimes(step, existing.length, at);
    const { _id: bulkId, operatorId, to } = job;
    const origin = { trigger: 'resend' as const, now: at, bulkId, operatorId, ...givenFields({ to }) };
    const deliveries = existing.map(({ event, plan }, position) =>
      composeDelivery(event, { ...origin, ...plan, dueAt: dueTimeAt(position) }),
    );
    const eventIds = deliveries.map(({ eventId }) => eventId);
    await events.keepUntil(eventIds, purgeDate(at));
    await insertAndSend(deliveries);
    const done = madeCount + deliveries.length;
    return { done, leftOut: eventCount - done, nextAt, last: page.at(-1), more: page.length === limit };
  }

  /** Changes the pending deliveries of a page. `change` returns how many it changed: those that are still pending. */
  async function changePage(
    step: Step,
    change: (ids: readonly string[]) => Promise<number>,
  ): Promise<Progress> {
    const page = await findPage(step, mostPerStep);
    const done = await change(page.map(({ _id }) => _id));
    const leftOut = page.length - done;
    return { done, leftOut, last: page.at(-1), more: page.length === mostPerStep, nextAt: timeIn(pauseMs) };
  }

  async function reschedule(
    { job: { rate, at = now() }, part }: Step,
    ids: readonly string[],
  ): Promise<number> {
    const dues = assignDueTimes(ids, at, { rate, movedBefore: part.done });
    const moved = await deliveryQueries.moveAll(dues);
    await due.retryAt(...dues.map(({ at: time }) => time));
    return moved;
  }

  /** Processes the next page of a part, as the action of the job demands. */
  function processPage(step: Step): Promise<Progress> {
    switch (step.job.action) {
      case 'resend':
      case 'replay':
        return sendPageAgain(step);
      case 'cancel':
        return changePage(step, (ids) => deliveryQueries.cancelAll(ids, now()));
      case 'reschedule':
        return changePage(step, (ids) => reschedule(step, ids));
    }
  }

  /** Whether the endpoint has at least as many unsent deliveries as the job makes in two seconds. Then the job waits. */
  async function isEndpointBehind({ job: { action, rate }, part }: Step): Promise<boolean> {
    // These actions make no deliveries, so they do not wait.
    if (action === 'cancel' || action === 'reschedule') return false;
    const mostUnsent = Math.max(fewestBehind, 2 * rate);
    const unsent = await deliveryQueries.countDueRetries(part.keyId, now(), mostUnsent);
    return unsent >= mostUnsent;
  }

  /** Takes one step. @returns the part after the step */
  return async (step: Step): Promise<Part> => {
    const { isBehind: _wasBehind, ...part } = step.part;
    if (await isEndpointBehind(step)) return { ...part, isBehind: true, nextAt: timeIn(retryBehindAfterMs) };
    const { done, leftOut, last, more, nextAt } = await processPage(step);
    return {
      ...part,
      ...(last ? { after: { createdAt: last.createdAt, _id: last._id } } : {}),
      done: part.done + done,
      leftOut: part.leftOut + leftOut,
      nextAt,
      finished: !more,
    };
  };
}
