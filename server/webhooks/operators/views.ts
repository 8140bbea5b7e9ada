import type { AttemptView, DeliveryView } from '../../../contracts/admin/deliveries.ts';
import type { EventView } from '../../../contracts/admin/events.ts';
import type { JobDetail, JobState, JobView } from '../../../contracts/admin/jobs.ts';
import type { WaitReason } from '../../../contracts/webhooks.ts';
import { lockLifetime } from '../../platform/jobs/scheduler.ts';
import type { Job } from '../../platform/jobs/stored-job.ts';
import type { Attempt, Delivery, StoredEvent } from '../delivery/delivery.ts';
import { attemptsJob } from '../delivery/due-job.ts';

const time = (date: Date | undefined): string | null => date?.toISOString() ?? null;

function viewAttempt(row: Attempt): AttemptView {
  return {
    attempt: row.attempt,
    trigger: row.trigger,
    dueAt: row.dueAt.toISOString(),
    at: row.at.toISOString(),
    waitedMs: row.at.getTime() - row.dueAt.getTime(),
    durationMs: row.durationMs ?? null,
    status: row.status ?? null,
    error: row.error ?? null,
    detail: row.detail ?? null,
    address: row.address ?? null,
    secretVersion: row.secretVersion ?? null,
    answer: row.answer ?? null,
    location: row.location ?? null,
    retryAfter: row.retryAfter ?? null,
    nextAttemptAt: time(row.nextAttemptAt),
  };
}

/** A delivery as operators see it, without its signatures. `waiting`: why a due delivery is not sent. */
export function viewDelivery(delivery: Delivery, waiting?: WaitReason): DeliveryView {
  return {
    id: delivery._id,
    event: delivery.type,
    eventId: delivery.eventId,
    partnerId: delivery.partnerId,
    mode: delivery.mode,
    keyId: delivery.keyId,
    status: delivery.status,
    attempts: delivery.attempts.map(viewAttempt),
    nextAttemptAt: time(delivery.nextAttemptAt),
    waiting: waiting ?? null,
    skipped: delivery.skipped?.reason ?? null,
    resendOf: delivery.resendOf ?? null,
    createdAt: delivery.createdAt.toISOString(),
    endedAt: time(delivery.endedAt),
  };
}

/**
 * The state of an event: `delivered` if any of its deliveries was, else the state of the last one.
 * @param deliveries all deliveries of the event, in order of time
 */
export function statusOf(deliveries: readonly Delivery[]): Delivery['status'] {
  const arrived = deliveries.some(({ status }) => status === 'delivered');
  return arrived ? 'delivered' : (deliveries.at(-1)?.status ?? 'pending');
}

/** An event as operators see it, with the attempts of all its deliveries. */
export function viewEvent(event: StoredEvent, deliveries: readonly Delivery[]): EventView {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts).map(viewAttempt);
  const dueTimes = deliveries.flatMap(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? []);
  return {
    id: event._id,
    event: event.type,
    partnerId: event.partnerId,
    mode: event.mode,
    keyId: event.keyId,
    sessionId: event.sessionId ?? null,
    enrollmentId: event.enrollmentId ?? null,
    sub: event.sub ?? null,
    createdAt: event.createdAt.toISOString(),
    status: statusOf(deliveries),
    attempts: attempts.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)),
    nextAttemptAt: dueTimes.length > 0 ? new Date(Math.min(...dueTimes)).toISOString() : null,
    deliveryIds: deliveries.map(({ _id }) => _id),
  };
}

/** The scheduler polls every second. A job that has been due for two seconds was not taken. */
export const lateAfterMs = 2000;

/** The malformed field of a job; undefined for a valid job. */
export const faultOf = ({ name, key, malformed }: Job): string | undefined =>
  malformed ?? (name === attemptsJob && Number.isNaN(Date.parse(key)) ? 'data.key' : undefined);

/** @param now the time of this machine, which the scheduler uses, in milliseconds since the epoch */
export function jobStateOf(job: Job, now: number): JobState {
  const { nextRunAt, lockedAt, failReason } = job;
  if (faultOf(job) !== undefined) return 'malformed';
  if (lockedAt) return now - lockedAt.getTime() > lockLifetime ? 'stuck' : 'locked';
  if (nextRunAt) return now - nextRunAt.getTime() > lateAfterMs ? 'late' : 'scheduled';
  return failReason === undefined ? 'done' : 'failed';
}

/**
 * A job as operators see it.
 * @param wakes the number of deliveries that the job sends
 * @param now as for `jobStateOf`
 */
export function viewJob(job: Job, { wakes, now }: { wakes: number; now: number }): JobView {
  const fault = faultOf(job);
  return {
    id: job.id,
    name: job.name,
    state: jobStateOf(job, now),
    nextRunAt: time(job.nextRunAt),
    lockedAt: time(job.lockedAt),
    lockedBy: job.lockedBy ?? null,
    lastRunAt: time(job.lastRunAt),
    failReason: fault === undefined ? (job.failReason ?? null) : `malformed: ${fault}`,
    data: { key: job.key },
    wakes,
  };
}

/** The due time of a pending delivery. Every pending delivery has one, so the default is for the type only. */
export const dueTimeOf = ({ nextAttemptAt, createdAt }: Delivery): Date => nextAttemptAt ?? createdAt;

/** An attempt that waits for its time. */
export function viewWaiting(delivery: Delivery): JobDetail['attempts'][number] {
  const { _id: deliveryId, type: event, attempt, keyId, mode } = delivery;
  return { deliveryId, event, attempt, keyId, mode, nextAttemptAt: dueTimeOf(delivery).toISOString() };
}
