import { AttemptView, DeliveryView } from '../../../contracts/admin/deliveries.ts';
import { EventView } from '../../../contracts/admin/events.ts';
import { type JobDetail, type JobState, JobView } from '../../../contracts/admin/jobs.ts';
import type { WaitReason } from '../../../contracts/webhooks.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { lockLifetime } from '../../platform/jobs/scheduler.ts';
import type { Job } from '../../platform/jobs/stored-job.ts';
import { type Attempt, type Delivery, type StoredEvent, skipReasonOf } from '../delivery/delivery.ts';
import { attemptsJob } from '../delivery/due-job.ts';

function viewAttempt(attempt: Attempt): AttemptView {
  return viewAs(AttemptView, { ...attempt, waitedMs: attempt.at.getTime() - attempt.dueAt.getTime() });
}

/** A delivery as operators see it, without its signatures. @param waiting why a due delivery is not sent */
export function viewDelivery(delivery: Delivery, waiting?: WaitReason): DeliveryView {
  return viewAs(DeliveryView, {
    ...delivery,
    id: delivery._id,
    event: delivery.type,
    attempts: delivery.attempts.map(viewAttempt),
    waiting,
    skipped: skipReasonOf(delivery),
  });
}

/**
 * The state of an event: `delivered` if any of its deliveries was, else the state of the last one. A delivery to another URL counts
 * only if there is no other.
 * @param all the deliveries of the event, in order of time
 */
export function statusOf(all: readonly Delivery[]): Delivery['status'] {
  const own = all.filter(({ to }) => to === undefined);
  const deliveries = own.length > 0 ? own : all;
  const arrived = deliveries.some(({ status }) => status === 'delivered');
  return arrived ? 'delivered' : (deliveries.at(-1)?.status ?? 'pending');
}

/** An event as operators see it, with the attempts of all its deliveries. */
export function viewEvent(event: StoredEvent, deliveries: readonly Delivery[]): EventView {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts).map(viewAttempt);
  const dueTimes = deliveries.flatMap(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? []);
  return viewAs(EventView, {
    ...event,
    id: event._id,
    event: event.type,
    status: statusOf(deliveries),
    attempts: attempts.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)),
    nextAttemptAt: dueTimes.length > 0 ? new Date(Math.min(...dueTimes)) : undefined,
    deliveryIds: deliveries.map(({ _id }) => _id),
  });
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
  // The lock of a process whose clock is ahead may be of a time to come.
  if (lockedAt) return Math.abs(now - lockedAt.getTime()) > lockLifetime ? 'stuck' : 'locked';
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
  return viewAs(JobView, {
    ...job,
    state: jobStateOf(job, now),
    failReason: fault === undefined ? job.failReason : `malformed: ${fault}`,
    data: { key: job.key },
    wakes,
  });
}

/** The due time of a pending delivery. Every pending delivery has one, so the default is for the type only. */
export const dueTimeOf = ({ nextAttemptAt, createdAt }: Delivery): Date => nextAttemptAt ?? createdAt;

export function viewWaiting(delivery: Delivery): JobDetail['attempts'][number] {
  const { _id: deliveryId, type: event, attempt, keyId, mode } = delivery;
  return { deliveryId, event, attempt, keyId, mode, nextAttemptAt: dueTimeOf(delivery).toISOString() };
}
