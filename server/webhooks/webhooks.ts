import { randomBytes } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/connect.ts';
import type { Logger } from '../platform/logging.ts';
import type { EventDraft, Publish, Sweep } from '../platform/outbox.ts';
import type { Scheduler } from '../platform/scheduler.ts';
import { createStage } from '../platform/stage.ts';
import { createCarryOut, type ReadEndpoint } from './carry-out.ts';
import {
  createDeliveryStore,
  type DeliveryStore,
  type Ending,
  type Grant,
  type Room,
} from './delivery-store.ts';
import { createDispatcher } from './dispatcher.ts';
import type { Route } from './egress.ts';
import { createEventStore, type EventStore } from './event-store.ts';
import { composeDelivery, composeEvent, deliveryId } from './events.ts';
import { createHistoryStore } from './history-store.ts';
import { createPost, type Post } from './post.ts';
import type { Limits } from './slots.ts';
import type { UrlRules } from './url.ts';
import { createWake } from './wake.ts';

/** What does the work, one by one: tests put their own around them. */
export interface Parts {
  events: EventStore;
  deliveries: DeliveryStore;
  post: Post;
}

export interface WebhookSettings extends UrlRules {
  db: Database['db'];
  clock: Pick<Clock, 'now'>;
  /** The key from which identifiers of events are derived. */
  idKey: Uint8Array;
  scheduler: Scheduler;
  logger: Logger;
  endpoint: ReadEndpoint;
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
}

/** Longer than an attempt can take, so that a lease ends only with its process. */
const defaultLeaseTime = 20_000;
/** How far ahead a sweep makes sure that jobs exist; twice the time between sweeps. */
const horizon = 30_000;

/** Events to their partners: publishing, sending, retrying, and finishing what a crash left. */
export function createWebhooks(settings: WebhookSettings) {
  const { db, clock, idKey, scheduler, logger, endpoint, userAgent, worker } = settings;
  const { leaseTime = defaultLeaseTime, wrap = (parts) => parts } = settings;
  const now = () => new Date(clock.now());
  const { events, deliveries, post } = wrap({
    events: createEventStore(db),
    deliveries: createDeliveryStore(db),
    post: createPost({ rules: settings, ...settings }),
  });
  const wake = createWake({ scheduler, clock });
  const ended = new AbortController();

  const lease = createStage<Room, Grant>({
    run: (rooms) => {
      const at = now();
      const token = randomBytes(16).toString('base64url');
      return deliveries.lease(rooms, { token, now: at, until: new Date(at.getTime() + leaseTime) });
    },
  });
  const record = createStage<Ending, undefined>({
    run: async (endings) => {
      await deliveries.record(endings);
      return endings.map(() => undefined);
    },
  });
  const scheduled = createStage<Date, undefined>({
    run: async (dates) => {
      const seconds = new Map(dates.map((date) => [Math.ceil(date.getTime() / 1000), date]));
      await Promise.all([...seconds.values()].map((date) => wake.at(date)));
      return dates.map(() => undefined);
    },
  });
  const dispatcher = createDispatcher({
    lease,
    carryOut: createCarryOut({ ...settings, post, deliveries, record, schedule: scheduled }),
    logger,
    ...(settings.limits ? { limits: settings.limits } : {}),
  });

  async function wakeDue(): Promise<void> {
    dispatcher.wake(await deliveries.dueKeys(now()));
  }

  /** First attempts go straight to this process's dispatcher, or to one of a process that sends. */
  async function dispatch(keyIds: readonly string[]): Promise<void> {
    if (worker) dispatcher.wake(keyIds);
    else await scheduled(now());
  }

  const publish: Publish = async (drafts: readonly EventDraft[]) => {
    if (drafts.length === 0) return;
    const at = now();
    const composed = drafts.map((draft) => composeEvent(draft, idKey));
    await events.insert(composed);
    await deliveries.insert(
      composed.map((event) =>
        composeDelivery(event, { id: deliveryId(event._id, idKey), trigger: 'event', dueAt: at, now: at }),
      ),
    );
    // What is stored is safe: to wake somebody is a matter of speed, and the sweep's where it fails.
    dispatch([...new Set(composed.map(({ keyId }) => keyId))]).catch((error: unknown) =>
      logger.warn({ err: error }, 'first attempts could not be scheduled'),
    );
  };

  const sweep: Sweep = {
    name: 'webhooks',
    async sweep() {
      const recovered = await deliveries.recover(now());
      if (recovered > 0) logger.warn({ recovered }, 'webhook attempts were interrupted and are made again');
      if (worker) await wakeDue();
      const seconds = await deliveries.dueSeconds(new Date(clock.now() + horizon));
      const ahead = worker ? seconds.filter((second) => second > now()) : seconds;
      await Promise.all(ahead.map((second) => wake.at(second)));
      await scheduler.sweep();
    },
  };

  wake.define(wakeDue, ended.signal);

  return {
    publish,
    sweep,
    deliveries,
    /** What the admin procedures of this feature need. */
    surroundings: {
      events,
      history: createHistoryStore(db),
      dispatch,
      scheduler,
      clock,
      idKey,
      endpoint,
      userAgent,
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
