import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';

/** The limit of unbilled responses of an API key: refusals, and stored answers that are sent again. */
const unbilledLimit = { perMinute: 120, refusal: 'Too many requests that were not billed' };

/** Returns a function that counts an unbilled response of an API key. It throws ApiError `rate_limited` above the limit. */
export const createUnbilledLimit = (limit: RequestLimit) => (keyId: string) =>
  limit('checkbox-unbilled', keyId, unbilledLimit);
export type AdmitUnbilled = ReturnType<typeof createUnbilledLimit>;
