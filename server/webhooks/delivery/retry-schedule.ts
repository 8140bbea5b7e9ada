import type { AttemptError } from '../../../contracts/webhooks.ts';
import type { Delivery } from './delivery.ts';

/** The result of a POST. Without `error` it was acknowledged. */
export interface PostResult {
  status?: number;
  error?: AttemptError;
  detail?: string;
  /** Address and port that were dialled; undefined where nothing was. */
  address?: string;
  /** Of the answer: the beginning of its body, and two of its headers. */
  answer?: string;
  location?: string;
  retryAfter?: string;
  durationMs: number;
}

/** The part of a delivery that an attempt's end changes. */
export type Verdict =
  | { status: 'delivered' | 'failed' }
  | { status: 'pending'; attempt: number; nextAttemptAt: Date };

/**
 * What the end of an attempt means for its delivery (interface 3.3): any 2xx delivers it.
 * The next attempt is due a delay after the *end* of a failed one. After the last failure, the delivery has failed.
 * @param delays milliseconds before attempts 2, 3, …
 */
export function afterAttempt(
  { attempt, limit }: Pick<Delivery, 'attempt' | 'limit'>,
  end: { error?: AttemptError | undefined; at: Date },
  delays: readonly number[],
): Verdict {
  if (end.error === undefined) return { status: 'delivered' };
  const delay = delays[attempt - 1];
  if (attempt >= limit || delay === undefined) return { status: 'failed' };
  return { status: 'pending', attempt: attempt + 1, nextAttemptAt: new Date(end.at.getTime() + delay) };
}
