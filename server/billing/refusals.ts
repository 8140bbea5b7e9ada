import type { Rehearsal } from '../../contracts/verification.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { hour, minute, secondsUntilRollover, windowStart } from '../platform/windows.ts';
import type { BillableKind, Verdict } from './wallet-model.ts';

const length = { minute, hour };

/**
 * Interface 7.4 and section 8: what the caller is told when money was not moved. `RateLimit` fields as in
 * draft-ietf-httpapi-ratelimit-headers: the bucket, what remains of it, seconds until it resets.
 */
export function refusalOf(verdict: Exclude<Verdict, { outcome: 'held' | 'settled' | 'stale' }>): ApiError {
  switch (verdict.outcome) {
    case 'insufficient':
      return new ApiError('payment_required');
    case 'capped': {
      const { bucket, limit, retryAfter } = verdict;
      return new ApiError('rate_limited', {
        description: `Spend limit exceeded: ${bucket} bucket`,
        retryAfter,
        headers: {
          'ratelimit-policy': `"${bucket}";q=${limit};w=${length[bucket] / 1000}`,
          ratelimit: `"${bucket}";r=0;t=${retryAfter}`,
        },
      });
    }
    case 'full':
      return unavailable();
  }
}

/** The refusal that a rehearsal asks for; nothing is read or written. `now` in milliseconds. */
export function rehearse(mark: Rehearsal, kind: BillableKind, now: number): ApiError {
  const capped = (bucket: 'minute' | 'hour', limit: number): ApiError => {
    const retryAfter = secondsUntilRollover(windowStart(now, length[bucket]), length[bucket], now);
    return refusalOf({ outcome: 'capped', bucket, limit, retryAfter });
  };
  switch (mark) {
    case 'client-inactive':
      return new ApiError(kind === 'storefront' ? 'integration_inactive' : 'client_inactive');
    case 'low-balance':
      return refusalOf({ outcome: 'insufficient' });
    case 'minute-cap':
      return capped('minute', 60);
    case 'hour-cap':
      return capped('hour', 1000);
    case 'unavailable':
      return refusalOf({ outcome: 'full' });
  }
}
