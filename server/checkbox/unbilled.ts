import { ApiError } from '../platform/errors.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';

/** The limit of unbilled responses per minute and API key: refusals, and stored answers that are sent again. */
const unbilledPerMinute = 120;

/** Returns a function that counts an unbilled response of an API key. It throws ApiError `rate_limited` above the limit. */
export function createUnbilledLimit(limit: RequestLimit) {
  return async function admitUnbilled(keyId: string): Promise<void> {
    const { allowed, retryAfter } = await limit('checkbox-unbilled', keyId, unbilledPerMinute);
    if (allowed) return;
    throw new ApiError('rate_limited', { description: 'Too many requests that were not billed', retryAfter });
  };
}
export type AdmitUnbilled = ReturnType<typeof createUnbilledLimit>;
