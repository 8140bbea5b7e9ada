import { groupBy } from '../../../server/platform/batching/group-by.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import type { Harness } from './harness.ts';
import type { Plan } from './plan.ts';
import type { Sent } from './receivers.ts';

const mostAttempts = 3;
/** An attempt that nothing delays begins this many milliseconds after its due time at the latest: a poll, and a few commands. */
const longestCalmWaitMs = 2_000;
const isOver = ({ status }: Delivery) => status !== 'pending' && status !== 'in_flight';

/** What is wrong with one delivery and its POSTs when all work has ended. */
function faultsOf({ attempts, status }: Delivery, sent: readonly Sent[], plan: Plan): string[] {
  const faults: string[] = [];
  if (new Set(sent.map(({ body }) => body)).size > 1) faults.push('has attempts with different bodies');
  const bySchedule = groupBy(sent, ({ attempt }) => String(attempt));
  for (const [number, posts] of bySchedule) {
    const interrupted = attempts.filter(
      ({ attempt, error }) => String(attempt) === number && error === 'interrupted',
    );
    if (posts.length > 1 + interrupted.length)
      faults.push(
        `was sent ${posts.length} times as attempt ${number}, with ${interrupted.length} interruptions`,
      );
  }
  const made = attempts.filter(({ error }) => error !== 'interrupted');
  if (made.length > mostAttempts) faults.push(`has ${made.length} attempts`);
  if (status === 'failed' && made.length < mostAttempts) faults.push(`failed after ${made.length} attempts`);
  for (const [index, { nextAttemptAt }] of attempts.entries()) {
    const next = attempts[index + 1];
    if (nextAttemptAt && next && next.at.getTime() < nextAttemptAt.getTime() - plan.skew)
      faults.push('was retried before its time');
    if (nextAttemptAt && next && next.attempt !== (attempts[index]?.attempt ?? 0) + 1)
      faults.push('skipped a number of its attempts');
  }
  if (!plan.isCalm) return faults;
  for (const { at, dueAt, attempt, error } of attempts) {
    const waited = at.getTime() - dueAt.getTime();
    if (waited > longestCalmWaitMs)
      faults.push(`waited ${waited} ms for attempt ${attempt}, and nothing failed`);
    if (error === 'interrupted') faults.push('was interrupted, and nothing failed');
  }
  return faults;
}

/** Whether all events are stored, and all deliveries have ended. */
export const isAtRest = ({ documents }: Harness, unconfirmed: ReadonlySet<string>): boolean =>
  unconfirmed.size === 0 && [...documents.deliveries.values()].every(isOver);

/** What is wrong when all work has ended: events that were lost, and deliveries that did not end or were sent too often. */
export function checkAtRest(
  { documents: { events, deliveries }, receivers }: Harness,
  plan: Plan,
  unconfirmed: ReadonlySet<string>,
): string[] {
  const faults = [...unconfirmed].map((name) => `the event of ${name} was never stored`);
  if (events.size !== plan.events) faults.push(`${events.size} of ${plan.events} events are stored`);
  if (deliveries.size !== plan.events)
    faults.push(`${deliveries.size} of ${plan.events} deliveries are stored`);
  const posts = groupBy(receivers.sent, ({ eventId }) => eventId);
  for (const delivery of deliveries.values()) {
    const name = `the delivery of ${delivery.eventId.slice(0, 8)}`;
    if (!isOver(delivery)) faults.push(`${name} is ${delivery.status} in the end`);
    faults.push(
      ...faultsOf(delivery, posts.get(delivery.eventId) ?? [], plan).map((fault) => `${name} ${fault}`),
    );
  }
  return faults;
}
