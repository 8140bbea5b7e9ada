import type { AttemptError } from '../../../contracts/webhooks.ts';
import type { Delivery } from './delivery.ts';

/** What follows for a delivery from the result of an attempt. */
export type Verdict =
  | { status: 'delivered' | 'failed' }
  | { status: 'pending'; attempt: number; nextAttemptAt: Date };

/**
 * Decides what follows from the result of an attempt (interface 3.3). Any 2xx means delivered. After a failure, the next
 * attempt is due a delay after the *end* of the failed one. After the last failure, the delivery has failed.
 * @param delays milliseconds before attempts 2, 3, …
 */
export function afterAttempt(
  { attempt, limit }: Pick<Delivery, 'attempt' | 'limit'>,
  result: { error?: AttemptError | undefined; at: Date },
  delays: readonly number[],
): Verdict {
  if (result.error === undefined) return { status: 'delivered' };
  // The first delay is the one before attempt 2.
  const delay = delays[attempt - 1];
  if (attempt >= limit || delay === undefined) return { status: 'failed' };
  return { status: 'pending', attempt: attempt + 1, nextAttemptAt: new Date(result.at.getTime() + delay) };
}
