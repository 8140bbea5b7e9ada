import { ApiError } from '../platform/errors.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';

/** Answers a minute of one API key that cost nothing: refusals, and stored answers sent again. */
const unbilledPerMinute = 120;

/** Counts an answer that is not billed. @throws ApiError rate_limited in its place, once there were too many */
export function createUnbilledLimit(limit: RequestLimit) {
  return async function admitUnbilled(keyId: string): Promise<void> {
    const { allowed, retryAfter } = await limit('checkbox-unbilled', keyId, unbilledPerMinute);
    if (allowed) return;
    throw new ApiError('rate_limited', { description: 'Too many requests that were not billed', retryAfter });
  };
}
export type AdmitUnbilled = ReturnType<typeof createUnbilledLimit>;
