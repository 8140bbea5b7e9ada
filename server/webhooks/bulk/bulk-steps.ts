import { groupBy } from '../../platform/batching/group-by.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { deriveId } from '../../platform/ids.ts';
import type { SendingContext } from '../context.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { composeDelivery, purgeDate } from '../delivery/events.ts';
import type { BulkJob, Part } from './bulk-job.ts';
import { blockingStatuses, bulkQuery, sendsDelivered, statusToProcess } from './bulk-store.ts';

const mostPerStep = 200;
/** Milliseconds between two steps that cancel or reschedule, so that other work can use the database. */
const pauseMs = 50;
/** A step sends as many events again as the rate allows in a second. It begins a second before these deliveries become due. */
const leadMs = 1_000;
/** Due times are multiples of this, in milliseconds, because each different due time costs a few database commands. */
const dueTimeStepMs = 250;
/** Milliseconds until a part whose endpoint is behind is tried again. */
const retryBehindAfterMs = 1_000;
/** With fewer unsent deliveries, an endpoint is not behind, even if the job is slow. */
const fewestBehind = 20;

/** A document that a filter has found: a delivery, or the event itself. */
type Found = Pick<Delivery, '_id' | 'createdAt' | 'eventId'>;
/** What a step has done with a page, and when the next one is due. */
type Progress = Pick<Part, 'done' | 'leftOut' | 'nextAt'>;

/**
 * Whether the filter of a job finds a delivery of an event that it has found. All deliveries of an event have the same key,
 * mode and type, so only status and time are compared.
 */
function matchesFilter(job: BulkJob, { status, createdAt }: Delivery): boolean {
  const { since, until } = job.filter;
  const time = createdAt.toISOString();
  return status === statusToProcess(job) && time >= since && time < until;
}

/**
 * Adds the counts of a step to those of its part. Documents may begin or cease to match after the count. So the total is raised
 * if more are processed, and at the end, what is missing from it was left out.
 */
function addUp(part: Part, { finished, ...step }: Pick<Part, 'done' | 'leftOut' | 'finished'>) {
  const done = part.done + step.done;
  const leftOut = part.leftOut + step.leftOut;
  const total = Math.max(part.total, done + leftOut);
  return { total, done, leftOut: finished ? total - done : leftOut, finished };
}

/**
 * Makes the function that takes a step: it processes the next documents of one key, and returns the part after it. Any process may
 * repeat a step, whole or in part, because the ids of new deliveries are derived from the deliveries that are sent again.
 */
export function createBulkSteps(context: SendingContext) {
  const { bulk: store, events, deliveryQueries, insertAndSend, due, clock, idKey } = context;
  const now = (): Date => new Date(clock.now());
  const timeIn = (ms: number): Date => new Date(clock.now() + ms);

  /** The id of the delivery that sends an event again. @param last the newest delivery of the event, if there is one */
  function againId(job: BulkJob, eventId: string, last: Delivery | undefined): string {
    // Two jobs that resend the same failed delivery derive the same id from it, so together they make one delivery. For events
    // that may have arrived, the id depends on the job, so that a later job can send them once more.
    const sameForJobs = last && [last._id, ...(job.to === undefined ? [] : [job.to])];
    const cause = (!sendsDelivered(job) && sameForJobs) || [job._id, eventId];
    return deriveId(idKey, 'delivery', ['again', ...cause]);
  }

  /**
   * Decides for each event of a page whether it is sent again. An event whose delivery may still arrive is not. `madeCount`
   * counts events whose delivery this job has made already, in a step whose result was not saved. `eventCount` is without the
   * events that the count at the start of the job left out.
   */
  async function planPage(job: BulkJob, page: readonly Found[]) {
    const blocking = blockingStatuses(job);
    const found = await deliveryQueries.ofEvents([...new Set(page.map(({ eventId }) => eventId))]);
    const deliveriesOf = groupBy(found, ({ eventId }) => eventId);
    const plans: { id: string; eventId: string; resendOf?: string }[] = [];
    let [eventCount, madeCount] = [0, 0];
    for (const { _id, eventId } of page) {
      const deliveries = deliveriesOf.get(eventId) ?? [];
      const isEvent = _id === eventId;
      // The filter may find several deliveries of an event, even on different pages. The event counts with the first one only.
      if (!isEvent && deliveries.find((one) => matchesFilter(job, one))?._id !== _id) continue;
      const last = deliveries.at(-1);
      const origin = last ? { resendOf: last._id } : {};
      const isMade = deliveries.some(({ bulkId }) => bulkId === job._id);
      const blockers = deliveries.filter(({ to, status }) => to === job.to && blocking.includes(status));
      // What blocks now has blocked since it was made, because the statuses that do not block are final.
      const isUncounted = job.exact && blockers.some(({ createdAt }) => createdAt <= job.createdAt);
      if (isMade || !isUncounted) eventCount += 1;
      if (isMade) madeCount += 1;
      else if (blockers.length === 0) plans.push({ id: againId(job, eventId, last), eventId, ...origin });
    }
    return { eventCount, plans, madeCount };
  }

  /** Sends the events of a page again, at the rate that all bulk jobs of the key share. */
  async function sendAgain(job: BulkJob, { keyId }: Part, page: readonly Found[]): Promise<Progress> {
    const { eventCount, plans, madeCount } = await planPage(job, page);
    const stored = await events.findAll(plans.map(({ eventId }) => eventId));
    // Events that have expired are left out.
    const existing = plans.flatMap(({ eventId, ...plan }) => {
      const event = stored.get(eventId);
      return event ? [{ event, plan }] : [];
    });
    const at = now();
    const intervalMs = 1000 / job.rate;
    const reservedMs = existing.length * intervalMs;
    const first = reservedMs > 0 ? await store.reserve(keyId, at, reservedMs) : at;
    const notBefore = (ms: number): Date => new Date(Math.max(at.getTime(), ms));
    const dueTimeAt = (position: number): Date => {
      const exactMs = first.getTime() + position * intervalMs;
      return notBefore(Math.floor(exactMs / dueTimeStepMs) * dueTimeStepMs);
    };
    const { _id: bulkId, operatorId, to } = job;
    const origin = { trigger: 'resend' as const, now: at, bulkId, operatorId, ...givenFields({ to }) };
    const deliveries = existing.map(({ event, plan }, position) =>
      composeDelivery(event, { ...origin, ...plan, dueAt: dueTimeAt(position) }),
    );
    const eventIds = deliveries.map(({ eventId }) => eventId);
    await events.keepUntil(eventIds, purgeDate(at));
    await insertAndSend(deliveries);
    const done = madeCount + deliveries.length;
    return { done, leftOut: eventCount - done, nextAt: notBefore(first.getTime() + reservedMs - leadMs) };
  }

  /** Moves pending deliveries: from the job's time on, in each second as many as the rate allows. @returns how many moved */
  async function reschedule(
    { rate, at = now() }: BulkJob,
    { done }: Part,
    ids: readonly string[],
  ): Promise<number> {
    // Whole seconds, because the scheduler has one job for each second. Earlier steps have filled the first seconds.
    const secondOf = (index: number) => at.getTime() + Math.floor((done + index) / rate) * 1000;
    const dues = ids.map((_id, index) => ({ _id, at: new Date(secondOf(index)) }));
    const moved = await deliveryQueries.moveAll(dues);
    await due.retryAt(...dues.map(({ at: time }) => time));
    return moved;
  }

  /** Cancels or moves those deliveries of a page that are still pending. */
  async function change(job: BulkJob, part: Part, page: readonly Found[]): Promise<Progress> {
    const ids = page.map(({ _id }) => _id);
    const isCancel = job.action === 'cancel';
    const done = await (isCancel ? deliveryQueries.cancelAll(ids, now()) : reschedule(job, part, ids));
    return { done, leftOut: page.length - done, nextAt: timeIn(pauseMs) };
  }

  /** Finds the next documents of a part. A replay reads events, all other actions read deliveries. */
  async function findPage(job: BulkJob, { keyId, after }: Part, limit: number): Promise<Found[]> {
    const query = { ...bulkQuery(job), keyId };
    const page = { limit, ...(after && { after }) };
    if (job.action !== 'replay') return deliveryQueries.page(query, page);
    return (await events.page(query, page)).map((event) => ({ ...event, eventId: event._id }));
  }

  /** Whether the endpoint has at least as many unsent deliveries as the job makes in two seconds. Then the job waits. */
  async function isEndpointBehind(keyId: string, rate: number): Promise<boolean> {
    const mostUnsent = Math.max(fewestBehind, 2 * rate);
    const unsent = await deliveryQueries.countDueRetries(keyId, now(), mostUnsent);
    return unsent >= mostUnsent;
  }

  return async (job: BulkJob, { isBehind: _wasBehind, ...part }: Part): Promise<Part> => {
    const { action, rate } = job;
    const makesDeliveries = action === 'resend' || action === 'replay';
    if (makesDeliveries && (await isEndpointBehind(part.keyId, rate)))
      return { ...part, isBehind: true, nextAt: timeIn(retryBehindAfterMs) };
    const limit = makesDeliveries ? rate : mostPerStep;
    const page = await findPage(job, part, limit);
    const { done, leftOut, nextAt } = await (makesDeliveries ? sendAgain : change)(job, part, page);
    const last = page.at(-1);
    return {
      ...part,
      ...(last && { after: { createdAt: last.createdAt, _id: last._id } }),
      ...addUp(part, { done, leftOut, finished: page.length < limit }),
      nextAt,
    };
  };
}
