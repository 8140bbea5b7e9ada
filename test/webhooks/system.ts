import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { onTestFinished } from 'vitest';
import { router } from '../../server/platform/admin-api/procedures.ts';
import type { EventDraft } from '../../server/platform/database/event-draft.ts';
import { randomId, randomSecret } from '../../server/platform/ids.ts';
import { createScheduler } from '../../server/platform/jobs/scheduler.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { createWebhookProcedures } from '../../server/webhooks/admin.ts';
import type { Endpoint, WhyOff } from '../../server/webhooks/delivery/endpoint.ts';
import { createRequireKey } from '../../server/webhooks/operators/endpoints/key-owner.ts';
import { createWebhooks, type WebhookSettings } from '../../server/webhooks/webhooks.ts';
import { preparedDatabase } from '../harness/database.ts';
import { within } from '../harness/time-limits.ts';

export const idKey = randomBytes(32);

export interface System extends ReturnType<typeof createWebhooks> {
  db: Db;
  /** The directory's entry for each key. */
  endpoints: Map<string, Endpoint>;
  /** Registers a key with this URL and returns its id. */
  key(url: string): string;
}

/**
 * The feature with a separate database, started. `settings` replace the defaults. A system on the database of another one may
 * send at once, so it needs that one's `endpoints`.
 */
export async function createSystem({
  endpoints = new Map(),
  ...settings
}: Partial<WebhookSettings> & Partial<Pick<System, 'endpoints'>> = {}): Promise<System> {
  const db = settings.db ?? (await preparedDatabase()).db;
  const logger = createLogger(process.env['SVC_LOG_LEVEL'] ?? 'silent');
  const webhooks = createWebhooks({
    db,
    clock: { now: Date.now },
    idKey,
    scheduler: createScheduler({ db, logger, processEvery: 50 }),
    logger,
    endpoint: (keyId) => Promise.resolve(endpoints.get(keyId) ?? { state: 'off', reason: 'no_url' }),
    retryDelays: [300, 300],
    localhostAllowed: true,
    ownPorts: () => [],
    worker: true,
    userAgent: 'SVC-Webhooks/test',
    ...settings,
  });
  await webhooks.start();
  onTestFinished(() => webhooks.stop());
  return {
    ...webhooks,
    db,
    endpoints,
    key(url) {
      const id = randomId('apiKey');
      endpoints.set(id, {
        state: 'on',
        url,
        mode: 'test',
        secret: randomSecret('webhookSecret'),
        secretVersion: 1,
      });
      return id;
    },
  };
}

/** A draft of an `enrollment.created` event for this key, with a new cause. */
export function draft(keyId: string, at = new Date()): EventDraft {
  const enrollmentId = randomId('enrollment');
  return {
    type: 'enrollment.created',
    cause: [enrollmentId],
    partnerId: 'ptr_0000000000000000000001',
    mode: 'test',
    keyId,
    about: { enrollmentId, sub: 'sub-1' },
    at,
    fields: { enrollment_id: enrollmentId, user_id: 'sub-1', created_at: at.toISOString() },
  };
}

/** The time limit in milliseconds of any wait. It is shorter than the test's limit, so that the wait itself fails. */
const timeLimit = within(20_000);

/**
 * Repeats a question until it has an answer.
 * @throws after the time limit, with the question and its last answer
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  limit = timeLimit,
): Promise<Exclude<T, false | null | undefined>> {
  const since = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<T, false | null | undefined>;
    if (performance.now() - since > limit)
      throw new Error(`not within ${limit} ms: ${ask.toString()} is still ${String(answer)}`);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

/** The admin procedures of the feature, called as an owner. */
export function adminOf(
  system: System,
  role: 'support' | 'ops' | 'owner' = 'owner',
  hasWorker: () => Promise<boolean> = async () => true,
) {
  const findKey = (keyId: string) => {
    const endpoint = system.endpoints.get(keyId);
    const mode = endpoint?.state === 'on' ? endpoint.mode : ('test' as const);
    return Promise.resolve(endpoint && { partnerId: 'ptr_0000000000000000000001', mode });
  };
  const operator = { id: 'opr_1', name: 'Ada', role };
  const context = { operator, requestId: 'req_1', address: '127.0.0.1' };
  const subjectOf = async () => undefined;
  const pauses = async (keyIds: readonly string[]) =>
    new Map(
      keyIds.flatMap((keyId) => {
        const endpoint = system.endpoints.get(keyId);
        const until = endpoint?.state === 'on' ? endpoint.pausedUntil : undefined;
        return until ? [[keyId, until] as const] : [];
      }),
    );
  const partnerNames = async () => new Map<string, string>();
  const requireKey = createRequireKey(findKey);
  const whyOff: WhyOff = async (keyId) => {
    const endpoint = system.endpoints.get(keyId);
    return endpoint?.state === 'off' ? endpoint.reason : undefined;
  };
  const ofOperators = { requireKey, pauses, hasWorker, whyOff, subjectOf, partnerNames };
  return router(createWebhookProcedures({ ...system.context, ...ofOperators })).createCaller(context);
}
