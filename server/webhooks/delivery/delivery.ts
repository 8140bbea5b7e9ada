import type { SentName } from '../../../contracts/events.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import type {
  AttemptError,
  AttemptTrigger,
  DeliveryStatus,
  SkipReason,
} from '../../../contracts/webhooks.ts';
import type { Parties } from './endpoint.ts';

/** An event, as the partner gets it. It is kept for 30 days. */
export interface StoredEvent {
  _id: string;
  type: SentName;
  partnerId: string;
  mode: Mode;
  keyId: string;
  /** The body, serialised once. Every attempt of every delivery sends these bytes. */
  body: string;
  sessionId?: string;
  enrollmentId?: string;
  sub?: string;
  /** The trace of the request that caused the event. */
  traceparent?: string;
  createdAt: Date;
  purgeAt: Date;
}

/** One POST of a delivery. Written before the request is sent, and completed after it. */
export interface Attempt {
  /** The number in the schedule, from 1. After an interrupted attempt, another one has the same number. */
  attempt: number;
  trigger: AttemptTrigger;
  /** When the attempt was due. The time from here to `at` shows how long it waited for a free slot. */
  dueAt: Date;
  at: Date;
  durationMs?: number;
  status?: number;
  error?: AttemptError;
  /** The error in words. */
  detail?: string;
  /** Where it was sent: the webhook URL may have changed since. Attempts of older builds have none. */
  url?: string;
  address?: string;
  secretVersion?: number;
  /** `X-SVC-Signature` as sent. */
  signature?: string;
  /** The first 4 KiB of the response's body as masked text, and two of its headers. They are kept for a week. */
  answer?: string;
  location?: string;
  retryAfter?: string;
  /** By how many minutes the receiver's clock is ahead of ours; negative if it is behind. Absent if they agree. */
  clockAheadMinutes?: number;
  nextAttemptAt?: Date;
}

/** How long the response to an attempt is kept, in milliseconds. */
export const answerRetentionMs = retentionMs.answer;

/** First attempts wait in one lane, retries and resends in another, so that neither lane has to wait for the other. */
export const lanes = ['first', 'retry'] as const;
export type Lane = (typeof lanes)[number];

/** Matches all deliveries. Queries name the lanes, because the indexes contain the lane between the key and the time. */
export const inAnyLane = { lane: { $in: [...lanes] } };

export type InFlight = Record<Lane, number>;
export const noneInFlight: Readonly<InFlight> = { first: 0, retry: 0 };
export const sumInFlight = (counts: Iterable<InFlight>): InFlight =>
  [...counts].reduce(
    (all, { first, retry }) => ({ first: all.first + first, retry: all.retry + retry }),
    noneInFlight,
  );

/** Set while an attempt is not made although it was due, because its process could not make it or ended. */
export interface Overdue {
  /** The first due time of the attempt. `nextAttemptAt` is later. */
  since: Date;
  /** Absent if the process ended. */
  reason?: 'secret_unreadable' | 'endpoint_unreadable';
}

/** One event for one key's URL, with a series of attempts. A resend makes another delivery. */
export interface Delivery extends Omit<StoredEvent, 'body'> {
  eventId: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  /** The most attempts that the series may make. */
  limit: number;
  /** The number of the attempt that is due next or in flight. */
  attempt: number;
  /** What made that attempt due. */
  trigger: AttemptTrigger;
  lane: Lane;
  /** Only while pending. */
  nextAttemptAt?: Date;
  overdue?: Overdue;
  /** Only while in flight. The holder of the token writes the result. Before `until`, no other process sends the delivery. */
  lease?: { token: string; until: Date };
  skipped?: Skip;
  /** The delivery that this one repeats. */
  resendOf?: string;
  /** The URL that it goes to instead of the webhook URL of its key. */
  to?: string;
  operatorId?: string;
  /** When the responses to the attempts are removed; absent if there are none. */
  forgetAnswersAt?: Date;
  bulkId?: string;
  /** When the delivery was delivered, failed or skipped. */
  endedAt?: Date;
}

/**
 * Why and when a delivery was skipped. Lists of older builds fail for a `reason` that they do not know, so it is the nearest of
 * theirs where `exact` is present.
 */
interface Skip {
  reason: SkipReason;
  exact?: SkipReason;
  at: Date;
}

const olderReasons: Partial<Record<SkipReason, SkipReason>> = {
  partner_closed: 'partner_suspended',
  other_host: 'cancelled',
};

export function skipFor(reason: SkipReason, at: Date): Skip {
  const older = olderReasons[reason];
  return older ? { reason: older, exact: reason, at } : { reason, at };
}

/** Why the delivery was skipped. Undefined if it was not. */
export const skipReasonOf = ({ skipped }: Pick<Delivery, 'skipped'>): SkipReason | undefined =>
  skipped?.exact ?? skipped?.reason;

/** The first due time of a pending attempt, from which lateness counts. Undefined if none is pending. */
export const firstDueOf = ({ nextAttemptAt, overdue }: Delivery): Date | undefined =>
  nextAttemptAt && (overdue?.since ?? nextAttemptAt);

/**
 * Whether a URL has another host than the webhook URL of a live key. Events of live keys never go to another host.
 */
export const isOtherHost = (to: string, { mode, url }: { mode: Mode; url: string }): boolean =>
  mode === 'live' && new URL(to).host !== new URL(url).host;

/** A delivery in flight under this process's lease, with the bytes to send. */
export interface Leased extends Delivery {
  lease: { token: string; until: Date };
  body: string;
  /** Only if this process has just published the event: its key and partner, as they were read then. */
  parties?: Parties | undefined;
}
