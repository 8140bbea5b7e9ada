import type { SentName } from '../../../contracts/event-names.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type {
  AttemptError,
  AttemptTrigger,
  DeliveryStatus,
  SkipReason,
} from '../../../contracts/webhooks.ts';

/** One event of the contract, as the partner gets it; kept 30 days. */
export interface StoredEvent {
  _id: string;
  type: SentName;
  partnerId: string;
  mode: Mode;
  keyId: string;
  /** Serialised once; every attempt of every delivery sends these bytes. */
  body: string;
  sessionId?: string;
  enrollmentId?: string;
  sub?: string;
  /** The trace of the request that caused it. */
  traceparent?: string;
  createdAt: Date;
  purgeAt: Date;
}

/** One POST, or the try of one. Written before it is sent, completed after. */
export interface Attempt {
  /** Its place in the schedule, from 1; one that was interrupted is followed by another with the same number. */
  attempt: number;
  trigger: AttemptTrigger;
  /** When it was to be sent; later than that, `at` shows how long it waited for a free slot. */
  dueAt: Date;
  at: Date;
  durationMs?: number;
  /** Of the HTTP answer. */
  status?: number;
  error?: AttemptError;
  /** The error in words. */
  detail?: string;
  /** Address and port that were dialled. */
  address?: string;
  secretVersion?: number;
  /** `X-SVC-Signature` as sent. */
  signature?: string;
  /** The first 4 KiB of the answer's body as text, masked, and two of its headers; for a week. */
  answer?: string;
  location?: string;
  retryAfter?: string;
  nextAttemptAt?: Date;
}

/** Milliseconds for which the answer of an attempt is kept. */
export const answerRetentionMs = 7 * 86_400_000;

/** Retries and resends wait in another lane than first attempts, so that neither starves the other. */
export type Lane = 'first' | 'retry';

/** One event on its way to one key's URL: a series of attempts. Sent again by hand, it is another delivery. */
export interface Delivery {
  _id: string;
  eventId: string;
  type: SentName;
  partnerId: string;
  mode: Mode;
  keyId: string;
  sessionId?: string;
  enrollmentId?: string;
  sub?: string;
  /** The event's. */
  traceparent?: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  /** How many attempts the series has. */
  limit: number;
  /** Number of the attempt that is due next or in flight, and what made it due. */
  attempt: number;
  trigger: AttemptTrigger;
  lane: Lane;
  /** Only while pending. */
  nextAttemptAt?: Date;
  /** Only while in flight: which process may write the result, and until when no other process tries. */
  lease?: { token: string; until: Date };
  skipped?: { reason: SkipReason; at: Date };
  /** The delivery that this one repeats, and the operator who asked for it. */
  resendOf?: string;
  /** When the answers of its attempts are to be forgotten; absent where there are none. */
  forgetAnswersAt?: Date;
  operatorId?: string;
  /** The bulk job that made it. */
  bulkId?: string;
  createdAt: Date;
  /** When it came to an end: delivered, failed or skipped. */
  endedAt?: Date;
  purgeAt: Date;
}

/** A delivery in flight under this process's lease, with the bytes to send. */
export interface Leased extends Delivery {
  lease: { token: string; until: Date };
  body: string;
}
