import type { Mode } from '../../contracts/identifiers.ts';
import type { Database } from '../platform/database/connect.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import { type Scheduler, sweepReads } from '../platform/jobs/scheduler.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import { createBulkSteps } from './bulk/bulk-steps.ts';
import { runningRead } from './bulk/bulk-store.ts';
import { createBulkRunner } from './bulk/runner.ts';
import type { SendingContext } from './context.ts';
import { type AttemptSettings, createAttempt } from './delivery/attempt.ts';
import { defaultLimits, type Limits } from './delivery/backlog.ts';
import type { Delivery } from './delivery/delivery.ts';
import type { DeliveryStore } from './delivery/delivery-store.ts';
import { createDue } from './delivery/due.ts';
import type { EventStore } from './delivery/event-store.ts';
import { createPublish, type PublishSettings } from './delivery/publish.ts';
import { checkWebhookUrl, type UrlRules } from './egress/destination.ts';
import { createPost, type Post, type PostSettings } from './egress/post.ts';
import { tracedPost } from './egress/traced-post.ts';
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
    Omit<AttemptSettings, keyof Parts>,
    Pick<PublishSettings, 'recipient' | 'idKey' | 'published'> {
  db: Database['db'];
  /** The same database through connections with a longer timeout, for counts. */
  maintenance?: Database['db'];
  scheduler: Scheduler;
  logger: Logger;
  /** Adds a span to each attempt. */
  tracing?: Tracing | undefined;
  /** Whether this process sends deliveries. Other processes only store them. */
  worker: boolean;
  /** Whether another process sends deliveries too. Default: always. */
  othersSend?: () => Promise<boolean>;
  limits?: Limits;
  /** Milliseconds until another process may send the same attempt; longer than `budget`, default 20,000. */
  leaseTime?: number;
  /** Replaces parts, for tests. Default: none. */
  wrap?: (parts: Parts) => Parts;
}

/** Longer than an attempt can take, so that a lease ends only with its process. */
const defaultLeaseMs = 20_000;

/** Webhooks: publishes events, sends and retries deliveries, and resumes after a crash. */
export function createWebhooks(settings: WebhookSettings) {
  const { db, clock, idKey, scheduler, worker, endpoint, userAgent, tracing } = settings;
  const { limits = defaultLimits, leaseTime = defaultLeaseMs, wrap = (parts) => parts } = settings;
  const { othersSend = () => Promise.resolve(true) } = settings;
  const stores = createWebhooksStores(db, settings.maintenance);
  const {
    events,
    deliveries,
    post: untraced,
  } = wrap({
    events: stores.events,
    deliveries: stores.deliveries,
    // `settings` has the rules for URLs, and also the options `route`, `budget` and `ca`.
    post: createPost({ rules: settings, ...settings }),
  });
  const post = tracing ? tracedPost(untraced, tracing) : untraced;
  const attempt = createAttempt({ ...settings, post, deliveries });
  const due = createDue({ ...settings, deliveries, attempt, limits, leaseTime, othersSend });

  async function insertAndSend(made: readonly Delivery[]): Promise<void> {
    await deliveries.insert(made);
    await due.stored(made);
  }

  const context: SendingContext = {
    ...stores,
    ...{ events, scheduler, due, insertAndSend, clock, idKey, endpoint, userAgent, limits },
    urlFault: (url: string, mode: Mode) => checkWebhookUrl(url, mode, settings),
  };
  const bulkRunner = createBulkRunner({
    ...settings,
    store: stores.bulk,
    processStep: createBulkSteps(context),
  });

  const sweep: Sweep = {
    name: 'webhooks',
    look: () => ({ reads: [...(worker ? [runningRead] : []), ...due.reads(), ...sweepReads()] }),
    /** Continues the work of processes that have ended, and sends what is due. */
    async sweep() {
      if (worker) bulkRunner.wake();
      await due.sweep();
      await scheduler.sweep();
      await deliveries.forgetAnswers(new Date(clock.now()));
    },
  };

  return {
    publish: createPublish({ ...settings, events, deliveries, due }),
    resume: due.resume,
    sweep,
    deliveries,
    context: { ...context, announce: bulkRunner.announce },
    /** Starts the scheduler, if this process sends. */
    async start(): Promise<void> {
      if (worker) await scheduler.start();
    },
    /** Stops sending, and resolves when all attempts in flight are recorded. */
    async stop(): Promise<void> {
      await Promise.all([bulkRunner.stop(), scheduler.stop(), due.stop()]);
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
