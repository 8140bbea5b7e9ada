/**
 * A row of the table of errors. The error class, both REST bodies, the tRPC error and the exit code of the command line are
 * derived from it. A code without a row does not compile.
 * Rows follow section 7 of interface 0.8.0, and docs/choices.md for cases that the interface does not define.
 */
export interface ErrorRow {
  status: number;
  /** The `error` of an OAuth body (interface 7.4). Absent if no OAuth endpoint sends it. */
  oauth?: string;
  /** The tRPC code of the admin API. */
  trpc: TrpcCode;
  /** Exit code of `svcadmin`: 1 failure, 2 usage, 3 not authorised, 4 not found, 5 refused, 6 rate limited, 7 unreachable. */
  exit: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  /** Whether the same request may succeed later without a change by the caller. */
  retryable: boolean;
  /** The default message for the caller. The code that throws the error may replace it. */
  text: string;
  /** The default message at the storefront and checkbox endpoints, if it differs from `text`. */
  general?: string;
}

/** The codes of tRPC that the table uses. They are listed here, because `contracts` imports no package but zod. */
type TrpcCode =
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | 'PAYMENT_REQUIRED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_SUPPORTED'
  | 'TIMEOUT'
  | 'CONFLICT'
  | 'UNPROCESSABLE_CONTENT'
  | 'TOO_MANY_REQUESTS'
  | 'INTERNAL_SERVER_ERROR'
  | 'SERVICE_UNAVAILABLE';

/** The fields that all errors of one HTTP status share. */
type Kind = Pick<ErrorRow, 'status' | 'trpc' | 'exit' | 'retryable'>;

const badRequest: Kind = { status: 400, trpc: 'BAD_REQUEST', exit: 2, retryable: false };
const unauthorized: Kind = { status: 401, trpc: 'UNAUTHORIZED', exit: 3, retryable: false };
const paymentRequired: Kind = { status: 402, trpc: 'PAYMENT_REQUIRED', exit: 5, retryable: false };
const forbidden: Kind = { status: 403, trpc: 'FORBIDDEN', exit: 3, retryable: false };
const notFound: Kind = { status: 404, trpc: 'NOT_FOUND', exit: 4, retryable: false };
const wrongMethod: Kind = { status: 405, trpc: 'METHOD_NOT_SUPPORTED', exit: 2, retryable: false };
const timeout: Kind = { status: 408, trpc: 'TIMEOUT', exit: 1, retryable: false };
const conflict: Kind = { status: 409, trpc: 'CONFLICT', exit: 5, retryable: false };
const unprocessable: Kind = { status: 422, trpc: 'UNPROCESSABLE_CONTENT', exit: 5, retryable: false };
const tooLarge: Kind = { status: 431, trpc: 'BAD_REQUEST', exit: 2, retryable: false };
const tooMany: Kind = { status: 429, trpc: 'TOO_MANY_REQUESTS', exit: 6, retryable: true };
const internal: Kind = { status: 500, trpc: 'INTERNAL_SERVER_ERROR', exit: 1, retryable: true };
const unavailable: Kind = { status: 503, trpc: 'SERVICE_UNAVAILABLE', exit: 1, retryable: true };

const rows = {
  // interface 7.4: token endpoint
  invalid_request: {
    ...badRequest,
    oauth: 'invalid_request',
    text: 'The request is missing a parameter or is malformed',
  },
  invalid_grant: {
    ...badRequest,
    oauth: 'invalid_grant',
    text: 'The authorization code is invalid, expired or already used',
  },
  unsupported_grant_type: {
    ...badRequest,
    oauth: 'unsupported_grant_type',
    text: 'grant_type must be authorization_code',
  },
  invalid_scope: {
    ...badRequest,
    oauth: 'invalid_scope',
    text: 'The scope is not permitted for this client',
  },
  invalid_redirect_uri: {
    ...badRequest,
    oauth: 'invalid_redirect_uri',
    text: 'redirect_uri differs from the one used at authorization',
  },
  invalid_client: { ...unauthorized, oauth: 'invalid_client', text: 'Wrong client_id or client_secret' },
  payment_required: {
    ...paymentRequired,
    oauth: 'payment_required',
    text: 'Insufficient wallet balance; no token was issued and nothing was debited',
    general: 'Insufficient wallet balance; no claims were released and nothing was debited',
  },
  access_denied: { ...forbidden, oauth: 'access_denied', text: 'The enrollment of this user is blocked' },
  client_inactive: {
    ...forbidden,
    oauth: 'client_inactive',
    text: 'The partner account or this client is not active',
  },
  rate_limited: { ...tooMany, oauth: 'rate_limited', text: 'Rate limit exceeded' },
  server_error: { ...internal, oauth: 'server_error', text: 'Internal server error' },
  service_unavailable: {
    ...unavailable,
    oauth: 'service_unavailable',
    text: 'The service is temporarily unavailable. Retry after the seconds in Retry-After; nothing is charged twice',
  },
  // interface 7.5: userinfo
  invalid_token: {
    ...unauthorized,
    oauth: 'invalid_token',
    text: 'The access token is missing, invalid, expired, revoked or unknown',
  },
  // interface 7.2: API key, letter by letter
  missing_api_key: { ...unauthorized, text: 'Missing API key. Use Authorization: Bearer {key}' },
  invalid_api_key: { ...unauthorized, text: 'Invalid or inactive API key' },
  unauthorized: { ...unauthorized, text: 'Unauthorized' },
  foreign_session: { ...forbidden, text: 'Forbidden: this session belongs to a different API key' },
  session_not_found: { ...notFound, text: 'Session not found or expired' },
  // interface 7.5: storefront exchange and the checkbox family
  invalid_signature: { ...unauthorized, text: 'Invalid signature or missing signing headers' },
  integration_inactive: {
    ...unauthorized,
    text: 'The integration, its client or the partner account is not active',
  },
  shop_not_found: { ...notFound, text: 'Shop not found' },
  code_not_found: { ...notFound, text: 'Authorization code not found' },
  enrollment_not_found: { ...notFound, text: 'Enrollment not found' },
  no_positive_claim: { ...unprocessable, text: 'Verification produced no positive claim' },
  enrollment_blocked: { ...unprocessable, text: 'The enrollment of this user is blocked' },
  event_not_found: { ...notFound, text: 'Event not found' },
  idempotency_conflict: { ...unprocessable, text: 'This Idempotency-Key was used with a different body' },
  no_claim_available: { ...unprocessable, text: 'None of the claims was consented to or is still fresh' },
  // any path
  bad_input: { ...badRequest, text: 'Invalid request' },
  malformed_http: { ...badRequest, text: 'The request is not valid HTTP' },
  request_timeout: { ...timeout, text: 'The request did not arrive in time' },
  headers_too_large: {
    ...tooLarge,
    text: 'The headers of the request are larger than 16 KiB or more than 1000',
  },
  route_not_found: { ...notFound, text: 'No such path' },
  method_not_allowed: { ...wrongMethod, text: 'Method not allowed' },
  cross_site_request: { ...forbidden, text: 'This form was not sent from its own page' },
  // hosted pages
  passkey_refused: { ...unauthorized, text: 'The passkey was not accepted' },
  passkey_unknown: { ...unauthorized, text: 'No user has this passkey, or no longer' },
  passkey_other_mode: { ...unprocessable, text: 'This passkey was saved in the other mode' },
  // sign-in of programs (RFC 8628 3.5)
  authorization_pending: { ...badRequest, text: 'No member has confirmed the login yet' },
  slow_down: { ...badRequest, text: 'Polled too early: wait 5 seconds more than before between two polls' },
  expired_token: { ...badRequest, text: 'The device code has expired: start again' },
  device_login_denied: { ...badRequest, text: 'A member has refused the login' },
  // admin API
  operator_unknown: { ...unauthorized, text: 'Missing, unknown or revoked operator token' },
  passkey_required: {
    ...unauthorized,
    text: 'Sign in again: this needs a passkey that was asked for within 30 minutes',
  },
  not_permitted: { ...forbidden, text: 'Your role does not allow this' },
  not_found: { ...notFound, text: 'No such record' },
  conflict: { ...conflict, text: 'The record is in a state that does not allow this' },
  refused: { ...unprocessable, text: 'Refused by a rule' },
  reason_required: {
    ...unprocessable,
    text: 'Personal data of live users is shown for a reason only, which the audit log keeps',
  },
} as const satisfies Record<string, ErrorRow>;

/** All error codes of this service. Retired codes stay in the table and are never used again. */
export type ErrorCode = keyof typeof rows;

export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = rows;

/** Returns the default message of an error in the general format (interface 7.1). */
export function generalText(code: ErrorCode): string {
  return errorTable[code].general ?? errorTable[code].text;
}

/**
 * The anchor of an error on the page /docs/errors. The page explains the errors of the OAuth endpoints first. The second entry of
 * a code is that of the general format.
 */
export function errorAnchor(code: string, isOauth: boolean): string {
  const hasTwoEntries = isErrorCode(code) && errorTable[code].oauth !== undefined;
  return hasTwoEntries && !isOauth ? `${code}-1` : code;
}

/** Whether `value`, which may come from another process, is a code of the table. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(rows, value);
}
