import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { ApiError, generalBody, oauthBody, unavailable } from '../../server/platform/errors.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

/** The errors of the OAuth endpoints (interface 7.4 and 7.5). */
const oauth = {
  invalid_request: 400,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_redirect_uri: 400,
  invalid_client: 401,
  payment_required: 402,
  access_denied: 403,
  client_inactive: 403,
  rate_limited: 429,
  server_error: 500,
  service_unavailable: 503,
  invalid_token: 401,
} as const;

/** The texts of interface 7.2. */
const apiKey = {
  missing_api_key: [401, 'Missing API key. Use Authorization: Bearer {key}'],
  invalid_api_key: [401, 'Invalid or inactive API key'],
  unauthorized: [401, 'Unauthorized'],
  foreign_session: [403, 'Forbidden: this session belongs to a different API key'],
  session_not_found: [404, 'Session not found or expired'],
  server_error: [500, 'Internal server error'],
} as const;

describe('the error table', () => {
  it.each(Object.entries(oauth))(
    '%s has the status %i and the same name in the OAuth format',
    (code, status) => {
      const error = new ApiError(code as ErrorCode);
      expect(error.status).toBe(status);
      expect(oauthBody(error)).toEqual({
        error: code,
        error_description: errorTable[code as ErrorCode].text,
      });
    },
  );

  it.each(Object.entries(apiKey))(
    '%s has the error message of section 7.2 of the interface',
    (code, [status, text]) => {
      const error = new ApiError(code as ErrorCode);
      expect([error.status, generalBody(error)]).toEqual([status, { success: false, error: text }]);
    },
  );

  it('has an OAuth error name for exactly the codes in the list of this test', () => {
    const named = codes.filter((code) => errorTable[code].oauth !== undefined);
    expect(named.toSorted()).toEqual(Object.keys(oauth).toSorted());
  });

  it.each(codes)('gives %s an exit code and a retry hint that agree with its status', (code) => {
    const { status, exit, retryable, text } = errorTable[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(retryable).toBe(status === 429 || status >= 500);
    const exits: Record<number, number> = { 400: 2, 401: 3, 403: 3, 404: 4, 405: 2, 409: 5, 422: 5, 429: 6 };
    if (status in exits) expect(exit).toBe(exits[status]);
    expect(text).toMatch(/^\S.{6,}/);
    expect(text).not.toMatch(/[.]$/);
  });

  it('has the function isErrorCode: it is true for the codes of the table and false for other values', () => {
    expect(codes.every(isErrorCode)).toBe(true);
    for (const other of ['', 'toString', '__proto__', 'nonsense', 7, null, undefined])
      expect(isErrorCode(other)).toBe(false);
  });
});

describe('an ApiError', () => {
  it('contains the description that its constructor got', () => {
    const error = new ApiError('invalid_grant', { description: 'The authorization code has expired' });
    expect(oauthBody(error).error_description).toBe('The authorization code has expired');
    expect(error.message).toBe('The authorization code has expired');
  });

  it.each([
    [0, '1'],
    [0.2, '1'],
    [1, '1'],
    [49.001, '50'],
    [3600, '3600'],
  ])('sends %d s as Retry-After: %s', (seconds, header) => {
    expect(new ApiError('rate_limited', { retryAfter: seconds }).headers).toEqual({ 'retry-after': header });
  });

  it('contains the headers that its constructor got', () => {
    const headers = { 'www-authenticate': 'Bearer' };
    expect(new ApiError('invalid_token', { headers }).headers).toEqual(headers);
    expect(new ApiError('invalid_token').headers).toEqual({});
  });

  it('shows neither its detail nor its cause in the OAuth body and the general body', () => {
    const error = new ApiError('server_error', { detail: 'secret', cause: new Error('secret') });
    expect(JSON.stringify([oauthBody(error), generalBody(error)])).not.toContain('secret');
  });

  it('has the OAuth name invalid_request if its code has no OAuth name', () => {
    expect(oauthBody(new ApiError('route_not_found')).error).toBe('invalid_request');
  });

  it('has Retry-After 5 if the database is away', () => {
    expect([unavailable().status, unavailable().headers]).toEqual([503, { 'retry-after': '5' }]);
  });
});
