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
    'gives %s the status %i, and the same name as error of an OAuth response',
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
    'gives %s the status and the error message of section 7.2 of the interface',
    (code, [status, text]) => {
      const error = new ApiError(code as ErrorCode);
      expect([error.status, generalBody(error)]).toEqual([status, { success: false, error: text }]);
    },
  );

  it('has an OAuth error name for the errors of interface 7.4 and 7.5 only', () => {
    const named = codes.filter((code) => errorTable[code].oauth !== undefined);
    expect(named.toSorted()).toEqual(Object.keys(oauth).toSorted());
  });

  /** The exit code of the command line for each status. */
  // biome-ignore format: a table reads better on few lines
  const exits: Record<number, number> = {
    400: 2, 401: 3, 402: 5, 403: 3, 404: 4, 405: 2, 408: 1, 409: 5, 422: 5, 429: 6, 431: 2, 500: 1, 503: 1,
  };

  it.each(
    codes.map((code) => {
      const { status } = errorTable[code];
      const retryable = status === 429 || status >= 500;
      const hint = retryable ? 'retryable' : 'not retryable';
      return [code, status, hint, exits[status], retryable] as const;
    }),
  )(
    'marks the error %s (%i) as %s, and gives it the exit code %i on the command line',
    (code, _status, _hint, exit, retryable) => {
      expect(errorTable[code]).toMatchObject({ exit, retryable });
    },
  );

  it('has a text of at least 7 characters for every code, without a full stop at the end', () => {
    for (const code of codes) expect(errorTable[code].text).toMatch(/^\S.{5,}[^.]$/);
  });

  it('contains a code if and only if isErrorCode returns true for it', () => {
    expect(codes.every(isErrorCode)).toBe(true);
    for (const other of ['', 'toString', '__proto__', 'nonsense', 7, null, undefined])
      expect(isErrorCode(other)).toBe(false);
  });
});

describe('an ApiError', () => {
  it('has the description that its constructor got as message and as error_description', () => {
    const error = new ApiError('invalid_grant', { description: 'The authorization code has expired' });
    expect(oauthBody(error).error_description).toBe('The authorization code has expired');
    expect(error.message).toBe('The authorization code has expired');
  });

  it.each([
    ['1', 0],
    ['1', 0.2],
    ['1', 1],
    ['50', 49.001],
    ['3600', 3600],
  ])('has the header Retry-After: %s if the caller may retry in %d s', (header, seconds) => {
    expect(new ApiError('rate_limited', { retryAfter: seconds }).headers).toEqual({ 'retry-after': header });
  });

  it('has the headers that its constructor got, and otherwise none', () => {
    const headers = { 'www-authenticate': 'Bearer' };
    expect(new ApiError('invalid_token', { headers }).headers).toEqual(headers);
    expect(new ApiError('invalid_token').headers).toEqual({});
  });

  it('shows neither its detail nor its cause in the body of a response', () => {
    const error = new ApiError('server_error', { detail: 'secret', cause: new Error('secret') });
    expect(JSON.stringify([oauthBody(error), generalBody(error)])).not.toContain('secret');
  });

  it('has the error invalid_request in an OAuth response if its code has no OAuth name', () => {
    expect(oauthBody(new ApiError('route_not_found')).error).toBe('invalid_request');
  });

  it('has the status 503 and Retry-After: 5 if it stands for an unreachable database', () => {
    expect([unavailable().status, unavailable().headers]).toEqual([503, { 'retry-after': '5' }]);
  });
});
