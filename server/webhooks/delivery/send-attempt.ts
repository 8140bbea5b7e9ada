import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { readTraceparent } from '../../platform/telemetry/trace-context.ts';
import { maskAnswer } from '../egress/answer-text.ts';
import { isLocalhost } from '../egress/destination.ts';
import type { Post } from '../egress/post.ts';
import { contractSignature, type Signed, signatureHeaders } from '../egress/signature.ts';
import type { Attempt, Delivery, Lane, Leased } from './delivery.ts';
import type { DeliveryStore, Ending } from './delivery-store.ts';
import { afterAttempt, type PostResult } from './retry-schedule.ts';

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

interface Settings {
  endpoint: ReadEndpoint;
  post: Post;
  deliveries: Pick<DeliveryStore, 'skip' | 'release'>;
  record: (ending: Ending) => Promise<void>;
  /** Schedules the job of the next attempt. */
  schedule: (at: Date) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds before attempts 2, 3, … */
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

const retryRecordAfterMs = 250;
const retryEndpointAfterMs = 1000;

/** Sends one leased attempt: reads the endpoint, signs, sends, records the result, and schedules the next attempt. */
export function createSendAttempt(settings: Settings): (delivery: Leased) => Promise<void> {
  const { endpoint, post, deliveries, record, schedule, clock, logger } = settings;
  const now = () => new Date(clock.now());

  async function readEndpoint(delivery: Leased): Promise<Endpoint | undefined> {
    try {
      return await endpoint(delivery.keyId);
    } catch (error) {
      logger.warn({ err: error, deliveryId: delivery._id }, 'a webhook endpoint could not be read');
      const later = new Date(clock.now() + retryEndpointAfterMs);
      await deliveries.release(delivery, later);
      await schedule(later);
      return undefined;
    }
  }

  /** Records a result. While the database cannot be reached, it retries until the lease ends. @returns whether it succeeded */
  async function recordResult(ending: Ending): Promise<boolean> {
    for (;;) {
      try {
        await record(ending);
        return true;
      } catch (error) {
        logger.warn({ err: error, deliveryId: ending.delivery._id }, 'an attempt could not be recorded');
        if (clock.now() + retryRecordAfterMs >= ending.delivery.lease.until.getTime()) return false;
        await sleep(retryRecordAfterMs);
      }
    }
  }

  async function finish(delivery: Leased, result: PostResult, signed: Partial<Attempt>): Promise<void> {
    const at = now();
    const verdict = afterAttempt(delivery, { error: result.error, at }, settings.retryDelays);
    const next = verdict.status === 'pending' ? { nextAttemptAt: verdict.nextAttemptAt } : {};
    const started = delivery.attempts.at(-1);
    if (!started) throw new Error(`delivery ${delivery._id} was leased without an attempt row`);
    const { answer } = result;
    const maskedAnswer = answer === undefined ? {} : { answer: maskAnswer(answer, delivery.sub) };
    const row: Attempt = { ...started, ...result, ...maskedAnswer, ...signed, ...next };
    const isRecorded = await recordResult({ delivery, row, verdict, at });
    if (isRecorded && verdict.status === 'pending') await schedule(verdict.nextAttemptAt);
    const { _id: deliveryId, eventId, attempt, partnerId: partner } = delivery;
    const { traceId } = readTraceparent(delivery.traceparent) ?? {};
    const { status, error, durationMs } = result;
    logger.info(
      { deliveryId, eventId, attempt, partner, traceId, status, error, durationMs, verdict: verdict.status },
      'webhook attempt',
    );
  }

  /** Gives up the lease of a delivery until its endpoint's pause ends. The delivery keeps its due time, and so its place. */
  async function releaseUntil(delivery: Leased, until: Date): Promise<void> {
    settings.hold(delivery.keyId, until);
    await deliveries.release(delivery, delivery.attempts.at(-1)?.dueAt ?? now());
    // The job is for the next whole second, so that the pause has ended when the job runs.
    await schedule(new Date(until.getTime() + 999));
  }

  const isForbiddenLocalhost = (url: string): boolean =>
    !settings.localhostAllowed && URL.canParse(url) && isLocalhost(new URL(url));

  return async (delivery) => {
    const target = await readEndpoint(delivery);
    if (!target) return;
    const skip = (reason: SkipReason) => deliveries.skip(delivery, reason, now());
    if (target.state === 'off') return skip(target.reason);
    if (isForbiddenLocalhost(target.url)) return skip('localhost_not_allowed');
    if (target.pausedUntil && target.pausedUntil > now()) return releaseUntil(delivery, target.pausedUntil);
    const { url, mode, secret, secretVersion } = target;
    const { body } = delivery;
    const at = clock.now();
    const signed = { ...delivery, secret, at, userAgent: settings.userAgent };
    const dueAt = delivery.attempts.at(-1)?.dueAt.getTime() ?? at;
    settings.sending?.({ lane: delivery.lane, lag: Math.max(0, at - dueAt) / 1000 });
    const result = await post({ url, mode, headers: attemptHeaders(signed), body });
    settings.sent?.(result.error ?? 'delivered', mode);
    await finish(delivery, result, { secretVersion, signature: contractSignature(body, secret) });
  };
}
