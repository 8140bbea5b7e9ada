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

/** Short delays in milliseconds before attempts 2 and 3, so that a run is short. */
export const retryDelay = 1000;
/** The longest wait for deliveries in milliseconds. Later deliveries count as lost. */
const timeoutMs = 40_000;
/** A rare query for one delivery only, because the query loads the measured database. */
const askEvery = 100;

/** Waits until there are `count` deliveries and none is open. */
export async function waitForEnds(db: Db, expected: number): Promise<void> {
  const deliveries = db.collection<Delivery>('deliveries');
  const open = { status: { $in: ['pending' as const, 'in_flight' as const] } };
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(askEvery)) {
    // In this order, so that a delivery between the two queries is not missed.
    if ((await deliveries.estimatedDocumentCount()) < expected) continue;
    if (!(await deliveries.findOne(open, { projection: { _id: 1 } }))) return;
  }
}

/**
 * The lateness of each attempt: its end minus its duration, by the server's clock. That clock can differ from the
 * endpoints' by some milliseconds.
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

/** An event of `enrollment.created`. */
export function draftOf(
  { partnerId, keyId }: Owner,
  { enrollmentId, sub, at }: { enrollmentId: string; sub: string; at: Date },
): EventDraft {
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

/** Drafts of events for these owners in turn. */
export function makeDrafts(count: number, owners: readonly Owner[], at: Date): EventDraft[] {
  return Array.from({ length: count }, (_, n) => {
    const owner = owners[n % owners.length];
    if (!owner) throw new Error('nobody owns these events');
    const sub = randomBytes(32).toString('base64url');
    return draftOf(owner, { enrollmentId: randomId('enrollment'), sub, at });
  });
}

/**
 * Publishes events that become due together, like a process that does not send and whose clock is ahead. Deliveries and
 * the job are the product's.
 * @returns the time at which sending could begin: all were due and written
 */
export async function publishDue(db: Db, drafts: readonly EventDraft[], dueAt: Date): Promise<Date> {
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
  await publisher.publish(drafts);
  const written = new Date();
  await publisher.stop();
  return written > dueAt ? written : dueAt;
}
