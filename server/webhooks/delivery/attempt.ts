import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { SkipReason } from '../../../contracts/webhooks.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import { minute } from '../../platform/http/limits/windows.ts';
import { UnreadableSecret } from '../../platform/keys/sealing.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { readTraceparent } from '../../platform/telemetry/trace-context.ts';
import { maskAnswer } from '../egress/answer-text.ts';
import { isLocalhost } from '../egress/destination.ts';
import type { Post } from '../egress/post.ts';
import { attemptHeaders } from '../egress/signature.ts';
import { type Attempt, isOtherHost, type Lane, type Leased, type Overdue } from './delivery.ts';
import type { DeliveryStore, FinishedAttempt } from './delivery-store.ts';
import type { Endpoint, ReadEndpoint } from './endpoint.ts';
import { afterAttempt } from './retry-schedule.ts';

export interface AttemptSettings {
  endpoint: ReadEndpoint;
  post: Post;
  deliveries: Pick<DeliveryStore, 'record' | 'skip' | 'release'>;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds before attempts 2 and 3. */
  retryDelays: readonly number[];
  localhostAllowed: boolean;
  userAgent: string;
  /** Called before each attempt, with the seconds since it was due. */
  sending?: (attempt: { lane: Lane; lag: number }) => void;
  /** Called with the outcome of each attempt: `delivered`, or the class of the error. */
  sent?: (outcome: string, mode: Mode) => void;
}

/** A delivery whose state is stored. */
export interface Recorded {
  /** When the delivery is due again; undefined if it is not. */
  dueAt?: Date | undefined;
  /** The endpoint gets nothing before this time. */
  pausedUntil?: Date;
}

/** A first attempt uses the key and partner that its publication read, if this is fewer milliseconds ago. */
const partiesLastMs = 1000;
const retryRecordAfterMs = 250;
const retryAfterMs = 1000;

/** The row of the present attempt. The lease has written it. */
function attemptRowOf({ _id, attempts }: Leased): Attempt {
  const row = attempts.at(-1);
  if (!row) throw new Error(`delivery ${_id} was leased without an attempt row`);
  return row;
}

const dueTimeOf = (leased: Leased): Date => leased.overdue?.since ?? attemptRowOf(leased).dueAt;

/**
 * Whether a quarter of a lease is over. An attempt may take half of it, and the last quarter is for clocks that differ: the
 * process that takes the delivery over has another one.
 */
function isQuarterOver(leased: Leased, now: number): boolean {
  const begin = attemptRowOf(leased).at.getTime();
  return now - begin > (leased.lease.until.getTime() - begin) / 4;
}

/** A smaller difference between the clocks is not noted, in minutes. A cache may also send an old `Date`. */
const leastClockDifference = 2;

/** By how many minutes a receiver's clock is ahead. Undefined if it sent no time, or if the clocks agree. */
function clockAheadMinutes(receiverTime: number | undefined, now: number): number | undefined {
  if (receiverTime === undefined) return undefined;
  const minutes = Math.round((receiverTime - now) / minute);
  return Math.abs(minutes) >= leastClockDifference ? minutes : undefined;
}

/** Makes one attempt: reads the endpoint, signs, sends, decides what follows, and records it. */
export function createAttempt(settings: AttemptSettings): (leased: Leased) => Promise<Recorded> {
  const { deliveries, clock, logger } = settings;
  const now = () => new Date(clock.now());
  const recordTogether = createGroupCommit<FinishedAttempt, undefined>({
    run: async (attempts) => {
      await deliveries.record(attempts);
      return attempts.map(() => undefined);
    },
  });

  async function attempt(leased: Leased): Promise<Recorded> {
    // The process that publishes the event ended before it stored the event. Its outbox publishes it again.
    if (leased.body === '') return postpone(leased);
    const endpoint = await settings
      .endpoint(leased.keyId, { partnerId: leased.partnerId, parties: recentParties(leased) })
      .catch((error: unknown) => noteUnreadable(leased, error));
    if (endpoint.state === 'unreadable') return postpone(leased, endpoint.reason);
    if (endpoint.state === 'off') return skip(leased, endpoint.reason);
    const { to: url = endpoint.url } = leased;
    // The webhook URL may have changed since the resend.
    if (leased.to !== undefined && isOtherHost(url, endpoint)) return skip(leased, 'other_host');
    if (isForbiddenLocalhost(url)) return skip(leased, 'localhost_not_allowed');
    const { pausedUntil } = endpoint;
    if (pausedUntil && pausedUntil > now()) return waitForPause(leased, pausedUntil);
    // Another process could send the attempt while this one waits for the response.
    if (isQuarterOver(leased, clock.now())) return postpone(leased);
    return record(await send(leased, { ...endpoint, url }));
  }

  /** What was read when the event was published, if that was not long ago. Else a change after it would have no effect. */
  const recentParties = ({ parties }: Leased) =>
    parties && clock.now() - parties.readAt < partiesLastMs ? parties : undefined;

  function noteUnreadable({ _id }: Leased, error: unknown) {
    logger.warn({ err: error, deliveryId: _id }, 'a webhook endpoint could not be read');
    const reason = error instanceof UnreadableSecret ? 'secret_unreadable' : 'endpoint_unreadable';
    return { state: 'unreadable', reason } as const;
  }

  /** Gives the lease of a delivery back, to try again in a second. */
  async function postpone(leased: Leased, reason?: Overdue['reason']): Promise<Recorded> {
    const dueAt = new Date(clock.now() + retryAfterMs);
    await deliveries.release(leased, dueAt, { since: dueTimeOf(leased), ...(reason && { reason }) });
    return { dueAt };
  }

  async function skip(leased: Leased, reason: SkipReason): Promise<Recorded> {
    await deliveries.skip(leased, reason, now());
    return {};
  }

  const isForbiddenLocalhost = (url: string): boolean =>
    !settings.localhostAllowed && URL.canParse(url) && isLocalhost(new URL(url));

  /**
   * Gives the lease of a delivery back, because its endpoint is paused. The delivery keeps its due time: after the pause, the
   * delivery that has been due longest is sent first.
   */
  async function waitForPause(leased: Leased, pausedUntil: Date): Promise<Recorded> {
    await deliveries.release(leased, dueTimeOf(leased));
    // Jobs start at whole seconds, and this one must not start before the end of the pause.
    return { dueAt: new Date(Math.ceil(pausedUntil.getTime() / 1000) * 1000), pausedUntil };
  }

  /** Sends the POST, and decides what follows from its result. */
  async function send(
    leased: Leased,
    { url, mode, secret, secretVersion, noteUse }: Endpoint & { state: 'on' },
  ): Promise<FinishedAttempt> {
    const { eventId, type, keyId, body, lane, traceparent } = leased;
    const at = clock.now();
    settings.sending?.({ lane, lag: Math.max(0, at - dueTimeOf(leased).getTime()) / 1000 });
    // A copy of the whole delivery would be slow: it has 25 fields, and the headers need few of them.
    const signed = { eventId, body, secret, at };
    const { userAgent } = settings;
    const headers = attemptHeaders({ ...signed, type, attempt: leased.attempt, traceparent, userAgent });
    noteUse?.();
    const { receiverTime, ...result } = await settings.post({ keyId, url, mode, headers, body });
    settings.sent?.(result.error ?? 'delivered', mode);
    const endedAt = now();
    const verdict = afterAttempt(leased, { error: result.error, at: endedAt }, settings.retryDelays);
    const signature = headers['X-SVC-Signature'];
    const row: Attempt = { ...attemptRowOf(leased), ...result, url, secretVersion, signature };
    const ahead = clockAheadMinutes(receiverTime, endedAt.getTime());
    if (ahead !== undefined) row.clockAheadMinutes = ahead;
    if (result.answer !== undefined) row.answer = maskAnswer(result.answer, leased.sub);
    if (verdict.status === 'pending') row.nextAttemptAt = verdict.nextAttemptAt;
    return { delivery: leased, row, verdict, at: endedAt };
  }

  async function record(sent: FinishedAttempt): Promise<Recorded> {
    const { verdict } = sent;
    const isRecorded = await recordInTime(sent);
    logAttempt(sent);
    // Without a record, the same attempt is made again after the lease, so no next attempt follows yet.
    return { dueAt: isRecorded && verdict.status === 'pending' ? verdict.nextAttemptAt : undefined };
  }

  /** Records a result. While the database cannot be reached, it retries until the lease ends. @returns whether it succeeded */
  async function recordInTime(sent: FinishedAttempt): Promise<boolean> {
    const { _id: deliveryId, lease } = sent.delivery;
    for (;;) {
      try {
        await recordTogether(sent);
        return true;
      } catch (error) {
        logger.warn({ err: error, deliveryId }, 'an attempt could not be recorded');
        if (clock.now() + retryRecordAfterMs >= lease.until.getTime()) return false;
        await sleep(retryRecordAfterMs);
      }
    }
  }

  function logAttempt({ delivery, row: { status, error, durationMs }, verdict }: FinishedAttempt): void {
    const { _id: deliveryId, eventId, attempt: number, partnerId: partner } = delivery;
    const { traceId } = readTraceparent(delivery.traceparent) ?? {};
    logger.info(
      {
        deliveryId,
        eventId,
        attempt: number,
        partner,
        traceId,
        status,
        error,
        durationMs,
        verdict: verdict.status,
      },
      'webhook attempt',
    );
  }

  return attempt;
}
