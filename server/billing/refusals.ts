import type { BillableKind } from '../../contracts/charge.ts';
import type { Rehearsal } from '../../contracts/verification.ts';
import { ApiError, unavailableRetryAfter } from '../platform/errors.ts';
import { hour, minute, secondsUntilRollover, windowStart } from '../platform/http/limits/windows.ts';
import { defaultCaps, type Refusal } from './ledger/wallet-rules.ts';

const lengthsMs = { minute, hour };

/**
 * Returns the error for a refused charge (interface 7.4 and section 8). The `RateLimit` headers follow
 * draft-ietf-httpapi-ratelimit-headers: the bucket, the remaining quota, and the seconds until the bucket resets.
 */
export function refusalOf(refusal: Refusal): ApiError {
  switch (refusal.outcome) {
    case 'insufficient':
      return new ApiError('payment_required');
    case 'capped': {
      const { bucket, limit, retryAfter } = refusal;
      return new ApiError('rate_limited', {
        description: `Spend limit exceeded: ${bucket} bucket`,
        retryAfter,
        headers: {
          'ratelimit-policy': `"${bucket}";q=${limit};w=${lengthsMs[bucket] / 1000}`,
          ratelimit: `"${bucket}";r=0;t=${retryAfter}`,
        },
      });
    }
  }
}

/**
 * Returns the error that every exchange of a certain sandbox user gets. With such users, partners test how they handle errors.
 * @param now milliseconds since the epoch
 */
export function rehearsedRefusal(rehearsal: Rehearsal, kind: BillableKind, now: number): ApiError {
  const capped = (bucket: 'minute' | 'hour', limit: number): ApiError => {
    const retryAfter = secondsUntilRollover(windowStart(now, lengthsMs[bucket]), lengthsMs[bucket], now);
    return refusalOf({ outcome: 'capped', bucket, limit, retryAfter });
  };
  switch (rehearsal) {
    case 'client-inactive':
      return new ApiError(kind === 'storefront' ? 'integration_inactive' : 'client_inactive');
    case 'low-balance':
      return refusalOf({ outcome: 'insufficient' });
    case 'minute-cap':
      return capped('minute', defaultCaps.perMinute);
    case 'hour-cap':
      return capped('hour', defaultCaps.perHour);
    case 'unavailable':
      // `rehearsed` keeps this error out of the service's status, which counts the other 5xx.
      return new ApiError('service_unavailable', { retryAfter: unavailableRetryAfter, rehearsed: true });
  }
}
