import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { defaultPace } from '../../server/platform/config/pace.ts';
import type { EventDraft } from '../../server/platform/database/event-draft.ts';
import { randomId } from '../../server/platform/ids.ts';
import { createScheduler } from '../../server/platform/jobs/scheduler.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import type { Delivery } from '../../server/webhooks/delivery/delivery.ts';
import { createWebhooks } from '../../server/webhooks/webhooks.ts';
import type { Owner } from '../contenders/our-partners.ts';
import { attemptKey, type Lags } from './counting.ts';

/** Milliseconds before attempts 2 and 3: short, so that a run is. */
export const retryDelay = 1000;
/** Longest wait for deliveries to end, in milliseconds; what has not arrived then is lost. */
const patience = 40_000;
/** Seldom, and for one only: the question is work for the database that is being measured. */
const askEvery = 100;

/** Waits until there are so many deliveries and none of them is open. */
export async function waitForEnds(db: Db, expected: number): Promise<void> {
  const deliveries = db.collection<Delivery>('deliveries');
  const open = { status: { $in: ['pending' as const, 'in_flight' as const] } };
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(askEvery)) {
    // In this order: one that came between the two questions would be overlooked in the other.
    if ((await deliveries.estimatedDocumentCount()) < expected) continue;
    if (!(await deliveries.findOne(open, { projection: { _id: 1 } }))) return;
  }
}

/**
 * How late each attempt was sent: its end less the time that it took, all by the server's clock, which may be some
 * milliseconds off that of the endpoints.
 */
export async function readLags(db: Db): Promise<Lags> {
  const made = await db
    .collection<Delivery>('deliveries')
    .find()
    .project<Pick<Delivery, 'eventId' | 'attempts' | 'endedAt'>>({ eventId: 1, attempts: 1, endedAt: 1 })
    .toArray();
  const lags = new Map<string, number>();
  for (const { eventId, attempts, endedAt } of made) {
    for (const { attempt, dueAt, durationMs, nextAttemptAt } of attempts) {
      const end = nextAttemptAt ? nextAttemptAt.getTime() - retryDelay : endedAt?.getTime();
      if (end === undefined || durationMs === undefined) continue;
      lags.set(attemptKey({ eventId, attempt }), end - durationMs - dueAt.getTime());
    }
  }
  return lags;
}

function draftOf({ partnerId, keyId }: Owner, at: Date): EventDraft {
  const enrollmentId = randomId('enrollment');
  const sub = randomBytes(32).toString('base64url');
  return {
    type: 'enrollment.created',
    cause: [enrollmentId],
    partnerId,
    mode: 'test',
    keyId,
    about: { enrollmentId, sub },
    at,
    fields: { enrollment_id: enrollmentId, user_id: sub, created_at: at.toISOString() },
  };
}

/**
 * Publishes events that fall due together, as a process would that does not send and whose clock is ahead: the
 * deliveries and the job that wakes the sender are those of the product.
 * @returns when the sender could begin: they were due, and all written
 */
export async function publishDue(
  db: Db,
  { events, owners, dueAt }: { events: number; owners: readonly Owner[]; dueAt: Date },
): Promise<Date> {
  const logger = createLogger('silent');
  const publisher = createWebhooks({
    db,
    clock: { now: () => dueAt.getTime() },
    idKey: randomBytes(32),
    scheduler: createScheduler({ db, logger, processEvery: defaultPace.jobsEvery }),
    logger,
    endpoint: () => Promise.reject(new Error('this process sends nothing')),
    retryDelays: [],
    localhostAllowed: true,
    ownPorts: () => [],
    worker: false,
    userAgent: '',
  });
  const drafts = Array.from({ length: events }, (_, n) => {
    const owner = owners[n % owners.length];
    if (!owner) throw new Error('nobody owns these events');
    return draftOf(owner, dueAt);
  });
  await publisher.publish(drafts);
  const written = new Date();
  await publisher.stop();
  return written > dueAt ? written : dueAt;
}
