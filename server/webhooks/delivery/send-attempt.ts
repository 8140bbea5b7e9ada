import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { Clock } from '../../platform/clock.ts';
import { UnreadableSecret } from '../../platform/keys/sealing.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { readTraceparent } from '../../platform/telemetry/trace-context.ts';
import { maskAnswer } from '../egress/answer-text.ts';
import { isLocalhost } from '../egress/destination.ts';
import type { Post } from '../egress/post.ts';
import { contractSignature, type Signed, signatureHeaders } from '../egress/signature.ts';
import type { Attempt, Delivery, Lane, Leased, Overdue } from './delivery.ts';
import type { DeliveryStore, FinishedAttempt } from './delivery-store.ts';
import { afterAttempt, type PostResult, type Verdict } from './retry-schedule.ts';

/** The webhook URL of a key, or why it has none. */
export type Endpoint =
  | {
      state: 'on';
      url: string;
      /** The signing secret as shown, `whsec_…`. */
      secret: string;
      secretVersion: number;
      mode: Mode;
      /** Deliveries of a paused key are not sent before this time. */
      pausedUntil?: Date;
    }
  | { state: 'off'; reason: 'no_url' | 'key_revoked' | 'partner_suspended' };

/** Read at every attempt and never cached, so that revocation and rotation have immediate effect. */
export type ReadEndpoint = (keyId: string) => Promise<Endpoint>;

export interface SendSettings {
  endpoint: ReadEndpoint;
  post: Post;
  deliveries: Pick<DeliveryStore, 'skip' | 'release'>;
  record: (finished: FinishedAttempt) => Promise<void>;
  /** Schedules the job of the next attempt. */
  schedule: (at: Date) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds before attempts 2 and 3. */
  retryDelays: readonly number[];
  localhostAllowed: boolean;
  userAgent: string;
  /** Leases no deliveries of a paused endpoint until this time. */
  hold: (keyId: string, until: Date) => void;
  /** Called before each attempt, with the seconds since it was due. */
  sending?: (attempt: { lane: Lane; lag: number }) => void;
  /** Called with the outcome of each attempt: `delivered`, or the class of the error. */
  sent?: (outcome: string, mode: Mode) => void;
}

/** What the headers of an attempt are made from. */
interface AttemptRequest extends Signed, Pick<Delivery, 'type' | 'attempt' | 'traceparent'> {
  userAgent: string;
}

/** Returns all headers of an attempt (interface 4.7, docs/choices.md). */
export function attemptHeaders(request: AttemptRequest): Record<string, string> {
  const { type, attempt, userAgent, traceparent, ...signed } = request;
  return {
    'Content-Type': 'application/json',
    'User-Agent': userAgent,
    'X-SVC-Event-Id': signed.eventId,
    'X-SVC-Event': type,
    'X-SVC-Attempt': String(attempt),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...signatureHeaders(signed),
  };
}

/** How an attempt was signed. */
type Signing = Pick<Attempt, 'secretVersion' | 'signature'>;

/** The row of the present attempt. The lease has written it. */
function attemptRowOf({ _id, attempts }: Leased): Attempt {
  const row = attempts.at(-1);
  if (!row) throw new Error(`delivery ${_id} was leased without an attempt row`);
  return row;
}

/** The first due time of the present attempt. */
const dueTimeOf = (delivery: Leased): Date => delivery.overdue?.since ?? attemptRowOf(delivery).dueAt;

/**
 * Whether a quarter of a lease is over. An attempt may take half of it, and the last quarter is for clocks that differ: the
 * process that takes the delivery over has another one.
 */
function isQuarterOver(delivery: Leased, now: number): boolean {
  const begin = attemptRowOf(delivery).at.getTime();
  return now - begin > (delivery.lease.until.getTime() - begin) / 4;
}

const retryRecordAfterMs = 250;
const retryAfterMs = 1000;

/** Sends one leased attempt: reads the endpoint, signs, sends, records the result, and schedules the next attempt. */
export function createSendAttempt(settings: SendSettings): (delivery: Leased) => Promise<void> {
  const { endpoint, post, deliveries, record, schedule, clock, logger } = settings;
  const now = () => new Date(clock.now());

  /** Gives the lease of a delivery back, to try again in a second. */
  async function postpone(delivery: Leased, overdue: Omit<Overdue, 'since'> = {}): Promise<void> {
    const later = new Date(clock.now() + retryAfterMs);
    await deliveries.release(delivery, later, { since: dueTimeOf(delivery), ...overdue });
    await schedule(later);
  }

  /** Reads the endpoint of a delivery. If that fails, returns undefined; the lease is given back. */
  async function readEndpoint(delivery: Leased): Promise<Endpoint | undefined> {
    try {
      return await endpoint(delivery.keyId);
    } catch (error) {
      logger.warn({ err: error, deliveryId: delivery._id }, 'a webhook endpoint could not be read');
      const reason = error instanceof UnreadableSecret ? 'secret_unreadable' : 'endpoint_unreadable';
      await postpone(delivery, { reason });
      return undefined;
    }
  }

  /** Records a result. While the database cannot be reached, it retries until the lease ends. @returns whether it succeeded */
  async function recordResult(finished: FinishedAttempt): Promise<boolean> {
    for (;;) {
      try {
        await record(finished);
        return true;
      } catch (error) {
        logger.warn({ err: error, deliveryId: finished.delivery._id }, 'an attempt could not be recorded');
        if (clock.now() + retryRecordAfterMs >= finished.delivery.lease.until.getTime()) return false;
        await sleep(retryRecordAfterMs);
      }
    }
  }

  function logAttempt(delivery: Leased, { status, error, durationMs }: PostResult, verdict: Verdict): void {
    const { _id: deliveryId, eventId, attempt, partnerId: partner } = delivery;
    const { traceId } = readTraceparent(delivery.traceparent) ?? {};
    logger.info(
      { deliveryId, eventId, attempt, partner, traceId, status, error, durationMs, verdict: verdict.status },
      'webhook attempt',
    );
  }

  /** Completes the row of an attempt and records it. Then schedules the next attempt, if one follows. */
  async function finish(delivery: Leased, result: PostResult, signed: Signing): Promise<void> {
    const endedAt = now();
    const verdict = afterAttempt(delivery, { error: result.error, at: endedAt }, settings.retryDelays);
    const row: Attempt = { ...attemptRowOf(delivery), ...result, ...signed };
    if (result.answer !== undefined) row.answer = maskAnswer(result.answer, delivery.sub);
    if (verdict.status === 'pending') row.nextAttemptAt = verdict.nextAttemptAt;
    const isRecorded = await recordResult({ delivery, row, verdict, at: endedAt });
    // Without a record, the same attempt is made again after the lease, so no next attempt follows yet.
    if (isRecorded && verdict.status === 'pending') await schedule(verdict.nextAttemptAt);
    logAttempt(delivery, result, verdict);
  }

  /**
   * Gives the lease of a delivery back, because its endpoint is paused. The delivery keeps its due time: after the pause, the
   * delivery that has been due longest is sent first.
   */
  async function releasePaused(delivery: Leased, pausedUntil: Date): Promise<void> {
    settings.hold(delivery.keyId, pausedUntil);
    await deliveries.release(delivery, dueTimeOf(delivery));
    // Jobs start at whole seconds, and this one must not start before the end of the pause.
    await schedule(new Date(Math.ceil(pausedUntil.getTime() / 1000) * 1000));
  }

  const isForbiddenLocalhost = (url: string): boolean =>
    !settings.localhostAllowed && URL.canParse(url) && isLocalhost(new URL(url));

  return async (delivery) => {
    // The process that publishes the event ended before it stored the event. Its outbox publishes it again.
    if (delivery.body === '') return postpone(delivery);
    const target = await readEndpoint(delivery);
    // `readEndpoint` has given the lease back.
    if (!target) return;
    const skip = (reason: SkipReason) => deliveries.skip(delivery, reason, now());
    if (target.state === 'off') return skip(target.reason);
    if (isForbiddenLocalhost(target.url)) return skip('localhost_not_allowed');
    if (target.pausedUntil && target.pausedUntil > now()) return releasePaused(delivery, target.pausedUntil);
    const { url, mode, secret, secretVersion } = target;
    const { body } = delivery;
    const at = clock.now();
    // Another process could send the attempt while this one waits for the response.
    if (isQuarterOver(delivery, at)) return postpone(delivery);
    const lagMs = at - dueTimeOf(delivery).getTime();
    settings.sending?.({ lane: delivery.lane, lag: Math.max(0, lagMs) / 1000 });
    const headers = attemptHeaders({ ...delivery, secret, at, userAgent: settings.userAgent });
    const result = await post({ keyId: delivery.keyId, url, mode, headers, body });
    settings.sent?.(result.error ?? 'delivered', mode);
    await finish(delivery, result, { secretVersion, signature: contractSignature(body, secret) });
  };
}
