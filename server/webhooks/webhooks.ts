import type { SkipReason } from '../../contracts/webhooks.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/connect.ts';
import type { EventDraft, Publish, Sweep } from '../platform/event-draft.ts';
import { createStage } from '../platform/group-commit.ts';
import type { Logger } from '../platform/logging.ts';
import type { Scheduler } from '../platform/scheduler.ts';
import type { Limits } from './delivery/concurrency-limits.ts';
import type { Delivery, Lane } from './delivery/delivery.ts';
import type { DeliveryStore } from './delivery/delivery-store.ts';
import { createDispatcher } from './delivery/dispatcher.ts';
import { createWake, dueSecond } from './delivery/due-job.ts';
import type { EventStore } from './delivery/event-store.ts';
import { composeDelivery, composeEvent, deliveryId, skipped } from './delivery/events.ts';
import { createLeasing } from './delivery/leasing.ts';
import { createCarryOut, type ReadEndpoint } from './delivery/send-attempt.ts';
import type { Route } from './egress/connector.ts';
import { createPost, type Post } from './egress/post.ts';
import type { UrlRules } from './egress/url.ts';
import { createWebhooksStores } from './store.ts';

/** What does the work, one by one: tests put their own around them. */
export interface Parts {
  events: EventStore;
  deliveries: DeliveryStore;
  post: Post;
}

/** Whose webhook URL gets an event; `skip` where that key has none now. */
export interface Recipient {
  keyId: string;
  skip?: SkipReason;
}

export interface WebhookSettings extends UrlRules {
  db: Database['db'];
  clock: Pick<Clock, 'now'>;
  /** The key from which identifiers of events are derived. */
  idKey: Uint8Array;
  scheduler: Scheduler;
  logger: Logger;
  endpoint: ReadEndpoint;
  /** Default: the key of the draft. */
  recipient?: (draft: EventDraft) => Promise<Recipient>;
  /** Milliseconds before attempts 2 and 3. */
  retryDelays: readonly number[];
  /** Whether this process sends; one that does not leaves it to those that do. */
  worker: boolean;
  userAgent: string;
  /** Other ways to names and addresses than the Internet's. */
  route?: Partial<Route>;
  /** Certificate authority of receivers, instead of the system's. */
  ca?: string;
  /** Milliseconds that an attempt may take; default 10 s. */
  budget?: number;
  limits?: Limits;
  /** Milliseconds until another process may take an attempt over; longer than `budget`, default 20 s. */
  leaseTime?: number;
  wrap?: (parts: Parts) => Parts;
  /** Told of each attempt as it goes out, with the seconds since it was due. */
  sending?: (attempt: { lane: Lane; lag: number }) => void;
  /** Called with how each attempt ended: `delivered`, or the class of the error. */
  sent?: (outcome: string) => void;
  /** Called with how many events were published together. */
  published?: (count: number) => void;
}

/** Longer than an attempt can take, so that a lease ends only with its process. */
const defaultLeaseTime = 20_000;
/** How far ahead a sweep makes sure that jobs exist; twice the time between sweeps. */
const horizon = 30_000;

/** Events to their partners: publishing, sending, retrying, and finishing what a crash left. */
export function createWebhooks(settings: WebhookSettings) {
  const { db, clock, idKey, scheduler, logger, endpoint, userAgent, worker } = settings;
  const { leaseTime = defaultLeaseTime, wrap = (parts) => parts } = settings;
  const { recipient = async ({ keyId }): Promise<Recipient> => ({ keyId }) } = settings;
  const now = () => new Date(clock.now());
  const stores = createWebhooksStores(db);
  const { events, deliveries, post } = wrap({
    events: stores.events,
    deliveries: stores.deliveries,
    post: createPost({ rules: settings, ...settings }),
  });
  const wake = createWake({ scheduler, clock, nextDue: deliveries.nextDue });
  const ended = new AbortController();
  const leasing = createLeasing({ deliveries, clock, leaseTime });
  const scheduled = createStage<Date, undefined>({
    run: async (dates) => {
      const seconds = new Set(dates.map((date) => dueSecond(date).getTime()));
      await Promise.all([...seconds].map((second) => wake.at(new Date(second))));
      return dates.map(() => undefined);
    },
  });
  const dispatcher = createDispatcher({
    lease: leasing.lease,
    carryOut: createCarryOut({ ...settings, post, deliveries, record: leasing.record, schedule: scheduled }),
    logger,
    ...(settings.limits ? { limits: settings.limits } : {}),
  });

  /** Asked for many times at once, as after a long stop, it looks once. */
  const wakeDue = createStage<'due', undefined>({
    run: async (asked) => {
      const keyIds = await deliveries.dueKeys(now());
      for (const keyId of keyIds) leasing.doubt(keyId);
      dispatcher.wake(keyIds);
      return asked.map(() => undefined);
    },
  });

  /** What was just stored and is due goes straight to this process's dispatcher, or to one of a process that sends. */
  async function dispatch(stored: readonly Delivery[]): Promise<void> {
    const at = now();
    const due = stored.filter(({ nextAttemptAt }) => nextAttemptAt && nextAttemptAt <= at);
    if (worker) {
      for (const { keyId, lane, _id } of due) leasing.offer(keyId, lane, _id);
      dispatcher.wake([...new Set(due.map(({ keyId }) => keyId))]);
    }
    const others = worker ? stored.filter((delivery) => !due.includes(delivery)) : stored;
    await Promise.all(
      others.flatMap(({ nextAttemptAt }) => (nextAttemptAt ? [scheduled(nextAttemptAt)] : [])),
    );
  }

  const publish: Publish = async (drafts: readonly EventDraft[]) => {
    if (drafts.length === 0) return;
    settings.published?.(drafts.length);
    const at = now();
    const addressed = await Promise.all(
      drafts.map(async (draft) => {
        const { keyId, skip } = await recipient(draft);
        return { event: composeEvent({ ...draft, keyId }, idKey), skip };
      }),
    );
    await events.insert(addressed.map(({ event }) => event));
    const own = addressed.map(({ event, skip }) => {
      const id = deliveryId(event._id, idKey);
      const delivery = composeDelivery(event, { id, trigger: 'event', dueAt: at, now: at });
      return skip ? skipped(delivery, skip, at) : delivery;
    });
    await deliveries.insert(own);
    // The delivery is stored. Sending it now is faster; where that fails, the sweep sends it.
    dispatch(own).catch((error: unknown) =>
      logger.warn({ err: error }, 'first attempts could not be scheduled'),
    );
  };

  const sweep: Sweep = {
    name: 'webhooks',
    async sweep() {
      const recovered = await deliveries.recover(now());
      if (recovered > 0) logger.warn({ recovered }, 'webhook attempts were interrupted and are made again');
      if (worker) await wakeDue('due');
      const current = dueSecond(now());
      const ahead = await deliveries.dueSeconds(current, new Date(clock.now() + horizon));
      // Where others send, one job wakes them for all that is overdue.
      if (!worker && (await deliveries.isOverdue(current))) ahead.push(current);
      await Promise.all(ahead.map((second) => wake.at(second)));
      await scheduler.sweep();
    },
  };

  wake.define(() => wakeDue('due'), ended.signal);

  return {
    publish,
    sweep,
    deliveries,
    /** What the admin procedures of this feature need. */
    context: {
      events,
      history: stores.deliveryQueries,
      dispatch,
      scheduler,
      wake,
      clock,
      idKey,
      endpoint,
      userAgent,
      limits: settings.limits,
    },
    inFlight: dispatcher.inFlight,
    /** Starts the scheduler where this process sends. */
    async start(): Promise<void> {
      if (worker) await scheduler.start();
    },
    /** Takes up nothing more and resolves when what is in flight is written down. */
    async stop(): Promise<void> {
      ended.abort();
      await Promise.all([scheduler.stop(), dispatcher.stop()]);
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
