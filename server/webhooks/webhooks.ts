import { createGroupCommit } from '../platform/batching/group-commit.ts';
import type { Database } from '../platform/database/connect.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import type { Scheduler } from '../platform/jobs/scheduler.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createBulkSteps } from './bulk/bulk-steps.ts';
import { createBulkRunner } from './bulk/runner.ts';
import { defaultLimits, type Limits } from './delivery/concurrency-limits.ts';
import type { Delivery } from './delivery/delivery.ts';
import type { DeliveryStore } from './delivery/delivery-store.ts';
import { createDispatcher } from './delivery/dispatcher.ts';
import { createDueJobs, dueBucket } from './delivery/due-job.ts';
import type { EventStore } from './delivery/event-store.ts';
import { createLeasing } from './delivery/leasing.ts';
import { createPublish, type PublishSettings } from './delivery/publish.ts';
import { createSendAttempt, type SendSettings } from './delivery/send-attempt.ts';
import type { UrlRules } from './egress/destination.ts';
import { createPost, type Post, type PostSettings } from './egress/post.ts';
import { createWebhooksStores } from './store.ts';

/** Parts that tests wrap. */
export interface Parts {
  events: EventStore;
  deliveries: DeliveryStore;
  post: Post;
}

export interface WebhookSettings
  extends UrlRules,
    Omit<PostSettings, 'rules'>,
    Pick<SendSettings, 'endpoint' | 'clock' | 'retryDelays' | 'userAgent' | 'sending' | 'sent'>,
    Pick<PublishSettings, 'recipient' | 'idKey' | 'published'> {
  db: Database['db'];
  /** The same database through connections with a longer timeout, for counts. */
  maintenance?: Database['db'];
  scheduler: Scheduler;
  logger: Logger;
  /** Whether this process sends deliveries. Other processes only store them. */
  worker: boolean;
  limits?: Limits;
  /** Milliseconds until another process may send the same attempt; longer than `budget`, default 20,000. */
  leaseTime?: number;
  /** Replaces parts, for tests. Default: none. */
  wrap?: (parts: Parts) => Parts;
}

/** Longer than an attempt can take, so that a lease ends only with its process. */
const defaultLeaseMs = 20_000;
/** When a pause is ended early, other processes notice it within this many milliseconds. */
const resumedElsewhereMs = 3_000;
/** The scheduler's job that makes a worker look for steps of bulk jobs. */
const bulkJob = 'webhook.bulk';
/** A sweep creates jobs for this many milliseconds ahead: twice the time between sweeps. */
const jobHorizonMs = 30_000;

/** Webhooks: publishes events, sends and retries deliveries, and resumes after a crash. */
export function createWebhooks(settings: WebhookSettings) {
  const { db, clock, idKey, scheduler, logger, endpoint, userAgent, worker } = settings;
  const { limits = defaultLimits, leaseTime = defaultLeaseMs, wrap = (parts) => parts } = settings;
  const now = () => new Date(clock.now());
  const stores = createWebhooksStores(db, settings.maintenance);
  const { events, deliveries, post } = wrap({
    events: stores.events,
    deliveries: stores.deliveries,
    // `settings` has the rules for URLs, and also the options `route`, `budget` and `ca`.
    post: createPost({ rules: settings, ...settings }),
  });
  const dueJobs = createDueJobs({ scheduler, clock, nextDue: deliveries.nextDue });
  const stopping = new AbortController();
  const leasing = createLeasing({ deliveries, clock, leaseTime });
  /** Schedules one job for all calls of the same second. */
  const schedule = createGroupCommit<Date, undefined>({
    run: async (dates) => {
      const seconds = new Set(dates.map((date) => dueBucket(date).getTime()));
      await Promise.all([...seconds].map((second) => dueJobs.at(new Date(second))));
      return dates.map(() => undefined);
    },
  });
  const dispatcher = createDispatcher({
    lease: leasing.lease,
    sendAttempt: createSendAttempt({
      ...settings,
      post,
      deliveries,
      record: leasing.record,
      schedule,
      /** Deliveries of the paused endpoint are given back, so the cache must read their order again. */
      hold(keyId, until) {
        dispatcher.hold(keyId, until.getTime() - clock.now());
        leasing.reorder(keyId);
      },
    }),
    logger,
    limits,
  });

  // A call has no input, so the item `due` only makes the call a part of the batch.
  const shareDispatch = createGroupCommit<'due', undefined>({
    run: async (calls) => {
      const keyIds = await deliveries.dueKeys(now());
      // Other processes may have stored deliveries that this process does not know.
      for (const keyId of keyIds) leasing.invalidate(keyId);
      dispatcher.notify(keyIds);
      return calls.map(() => undefined);
    },
  });
  /** Dispatches all due deliveries. Calls that arrive during a query share the next one. */
  const dispatchDue = (): Promise<void> => shareDispatch('due');

  /** Dispatches stored deliveries that are due, and schedules the others. A process that sends nothing schedules all of them. */
  async function dispatch(stored: readonly Delivery[]): Promise<void> {
    const at = now();
    const dueKeys = new Set<string>();
    const laterTimes: Date[] = [];
    for (const { _id, keyId, lane, nextAttemptAt } of stored) {
      // A delivery that was skipped when it was made is never due.
      if (!nextAttemptAt) continue;
      if (worker && nextAttemptAt <= at) {
        leasing.add(keyId, lane, _id);
        dueKeys.add(keyId);
      } else {
        laterTimes.push(nextAttemptAt);
      }
    }
    dispatcher.notify([...dueKeys]);
    await Promise.all(laterTimes.map(schedule));
  }

  /**
   * Makes attempts that were moved to these times be sent then. This process sends those that are due. Each second has a job, so
   * that all processes that send share its attempts.
   */
  async function sendMoved(times: readonly Date[]): Promise<void> {
    const at = now();
    const isDue = times.some((time) => time <= at);
    await Promise.all([...times.map(schedule), worker && isDue && dispatchDue()]);
  }

  async function insertAndDispatch(newDeliveries: readonly Delivery[]): Promise<void> {
    await deliveries.insert(newDeliveries);
    await dispatch(newDeliveries);
  }

  const bulkRunner = createBulkRunner({
    store: stores.bulk,
    processStep: createBulkSteps({
      store: stores.bulk,
      events: stores.events,
      deliveryQueries: stores.deliveryQueries,
      insertAndDispatch,
      sendMoved,
      clock,
      idKey,
    }),
    clock,
    logger,
  });

  /** Makes this process, or another one that sends, look for steps of bulk jobs. */
  async function announceBulk(bulkId: string): Promise<void> {
    if (worker) bulkRunner.wake();
    else await scheduler.at(bulkJob, new Date(), bulkId);
  }

  /** Sends the deliveries that waited for a paused key. Other processes notice the end of the pause a little later. */
  async function resume(keyId: string): Promise<void> {
    if (worker) {
      dispatcher.release(keyId);
      leasing.reorder(keyId);
      dispatcher.notify([keyId]);
    }
    // By then, the other processes have noticed the end of the pause. The job makes one of them send, too.
    await schedule(new Date(clock.now() + resumedElsewhereMs));
  }

  const publish = createPublish({
    ...settings,
    events,
    deliveries,
    newLease: leasing.newLease,
    reserve: (keyId) => (worker ? dispatcher.reserve(keyId) : undefined),
    dispatch,
  });

  /** Creates jobs for waiting deliveries that have none, because a process ended between storing them and creating the job. */
  async function scheduleDueSeconds(): Promise<void> {
    const currentSecond = dueBucket(now());
    const seconds = await deliveries.dueSeconds(currentSecond, new Date(clock.now() + jobHorizonMs));
    // A worker's own sweep dispatches deliveries of earlier seconds. Any other process creates a job, so that a worker does it.
    if (!worker && (await deliveries.isOverdue(currentSecond))) seconds.push(currentSecond);
    await Promise.all(seconds.map((second) => dueJobs.at(second)));
  }

  const sweep: Sweep = {
    name: 'webhooks',
    /** Continues the work of processes that have ended, and dispatches what is due. */
    async sweep() {
      const recovered = await deliveries.recover(now());
      if (recovered > 0) logger.warn({ recovered }, 'webhook attempts were interrupted and are made again');
      if (worker) {
        bulkRunner.wake();
        await dispatchDue();
      }
      await scheduleDueSeconds();
      await scheduler.sweep();
      await deliveries.forgetAnswers(now());
    },
  };

  dueJobs.define(dispatchDue, stopping.signal);
  scheduler.define(bulkJob, async () => bulkRunner.wake());

  return {
    publish,
    resume,
    sweep,
    deliveries,
    /** For the admin procedures of this feature. */
    context: {
      events,
      deliveryQueries: stores.deliveryQueries,
      bulk: stores.bulk,
      health: stores.health,
      announce: announceBulk,
      insertAndDispatch,
      sendMoved,
      scheduler,
      dueJobs,
      clock,
      idKey,
      endpoint,
      userAgent,
      limits,
    },
    inFlight: dispatcher.inFlight,
    /** Starts the scheduler, if this process sends. */
    async start(): Promise<void> {
      if (worker) await scheduler.start();
    },
    /** Stops sending, and resolves when all attempts in flight are recorded. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([bulkRunner.stop(), scheduler.stop(), dispatcher.stop()]);
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
