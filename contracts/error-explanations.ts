import type { ErrorCode } from './errors.ts';

/** Explains an error to a developer who uses this service. */
export interface Explanation {
  /** What causes the error. */
  cause: string;
  /** What to do. */
  fix: string;
}

/** Explanations for endpoints with the general error format. They replace those of the OAuth endpoints. */
export const generalExplanations: Readonly<Partial<Record<ErrorCode, Explanation>>> = {
  invalid_request: {
    cause:
      'A parameter, a header or a field is missing or malformed, or a parameter or a member is given twice. Or the body is not a JSON object, or is over 64 KiB.',
    fix: 'The text names it. Nothing was debited, and a code stays usable.',
  },
  payment_required: {
    cause: 'The balance of the wallet of this mode is less than the price.',
    fix: 'Have the wallet funded and send the same call again. In test mode, an owner, developer or finance member refills it: `svc wallet refill`. Owners and finance members can do it in the portal, too. No claims were released, nothing was debited, and a code stays usable until it expires.',
  },
};

const wait = 'Send the same request again after the seconds in `Retry-After`.';
const startOver = 'Send the user to `/verify/start` again.';

/** An explanation for every row of the error table. `docs/errors.md` is generated from both. */
export const errorExplanations: Readonly<Record<ErrorCode, Explanation>> = {
  invalid_request: {
    cause:
      'A parameter is missing, malformed or given twice. Or the body is neither JSON nor a form, is over 64 KiB, or has more than 32 fields. Or credentials are in the body and in the header.',
    fix: 'The description names the parameter. The code stays usable.',
  },
  invalid_grant: {
    cause:
      'The code is unknown to this client, older than 10 minutes, already used, or of a storefront client. Or its user has withdrawn the consent. Or the `code_verifier` is wrong; five wrong ones invalidate the code.',
    fix: `For a used code, the description names the time and the charge. If its answer was lost, ask support for a refund. Otherwise: ${startOver}`,
  },
  unsupported_grant_type: {
    cause: 'grant_type is not `authorization_code`.',
    fix: 'Send `grant_type=authorization_code`.',
  },
  invalid_scope: {
    cause: 'The client lost a claim between the start and the exchange.',
    fix: 'Give the client the claim again, in the portal or by `svc`, or ask support. Or start again with a scope that the client may ask for.',
  },
  invalid_redirect_uri: {
    cause: 'redirect_uri is not byte for byte the one of the start, trailing slash included.',
    fix: 'Send the value that was sent to `/verify/start`. The code stays usable.',
  },
  invalid_client: {
    cause: 'client_id is unknown or client_secret is wrong.',
    fix: 'Check both; after a rotation the old secret ends within 2 seconds, unless it was kept for a time.',
  },
  payment_required: {
    cause: 'The balance of the wallet of this mode is less than the price.',
    fix: 'Fund the wallet. In test mode, an owner, developer or finance member refills it: `svc wallet refill`. Owners and finance members can do it in the portal, too. The code stays usable until it expires; nothing was debited.',
  },
  access_denied: {
    cause: 'The enrollment of this user is blocked, for instance because the same face is enrolled twice.',
    fix: 'Treat the user as not verified. Support can say why, and unblock.',
  },
  client_inactive: {
    cause: 'The partner account is not active, the client is disabled, or its API key is revoked.',
    fix: 'Enable the client or move it to another key, in the portal or by `svc`. Ask support to activate the account.',
  },
  rate_limited: {
    cause:
      'A limit of requests, or the partner’s spend limit, is exceeded; the text says which. Nothing was debited.',
    fix: wait,
  },
  server_error: {
    cause: 'A fault of this service.',
    fix: 'Send the same request again after 1 s, then after 2 s: three attempts in all. Tell support the `X-Request-Id`.',
  },
  service_unavailable: {
    cause: 'The database or the spend limits cannot be reached, or too many requests are in flight.',
    fix: `${wait} The same exchange is never charged twice.`,
  },
  invalid_token: {
    cause:
      'The bearer token is missing, not ours, expired (1 hour) or revoked. A second use of its code revokes it too.',
    fix: `The description names the case, with the time of an expiry or a revocation. ${startOver}`,
  },
  missing_api_key: {
    cause: 'No Authorization header, or one of another form.',
    fix: 'Send `Authorization: Bearer svc_test_…` or `svc_live_…`.',
  },
  invalid_api_key: {
    cause: 'The key is unknown, rotated or revoked, or the partner account is not active.',
    fix: 'Use the key of the last rotation.',
  },
  unauthorized: {
    cause: 'A page of the hosted flow was opened in another browser than the one that started it.',
    fix: startOver,
  },
  foreign_session: {
    cause: 'The session was created by a client of another API key.',
    fix: 'Use the key that the client belongs to.',
  },
  session_not_found: {
    cause: 'The id is wrong, or the session is older than 30 minutes.',
    fix: 'Sessions expire silently: treat it as expired.',
  },
  invalid_signature: {
    cause:
      'A signing header is missing or malformed, or the timestamp differs by over 300 seconds. Or the signature does not match the bytes of the body.',
    fix: 'Sign `{integration_id}.{timestamp}.{raw body}` with the present secret, and send exactly those bytes.',
  },
  integration_inactive: {
    cause: 'The integration is disabled, or its client, API key or partner account is not active.',
    fix: 'Ask support.',
  },
  shop_not_found: {
    cause: 'The integration does not list this `shop_domain`.',
    fix: 'Add the shop, in the portal or by `svc`, or ask support.',
  },
  code_not_found: {
    cause:
      'The code is unknown, expired, of a client of another integration, or already used with another body or integration. Or its user has withdrawn the consent.',
    fix: `Repeat a lost answer with the very same body. Otherwise: ${startOver}`,
  },
  enrollment_not_found: {
    cause: 'No such enrollment with a client of this API key.',
    fix: 'Use the enrollment_id of the `enrollment.created` event or of the storefront answer.',
  },
  no_positive_claim: {
    cause: 'The user was verified, and none of the claims is true.',
    fix: 'Treat the user as not allowed. Nothing was billed.',
  },
  enrollment_blocked: {
    cause: 'The enrollment of this user is blocked, for instance because the same face is enrolled twice.',
    fix: 'Treat the user as not verified. Nothing was billed.',
  },
  event_not_found: {
    cause: '`after` is the event of another API key, or older than 30 days.',
    fix: 'Ask without `after`: the answer begins with the oldest event that is kept.',
  },
  idempotency_conflict: {
    cause: 'The Idempotency-Key was used for another body, or more than 24 hours ago.',
    fix: 'Send a new key for a new request.',
  },
  no_claim_available: {
    cause: 'The user consented to none of the claims here, or none is fresh (365 days).',
    fix: startOver,
  },
  bad_input: { cause: 'The request is malformed.', fix: 'The text names the fault where it is known.' },
  malformed_http: {
    cause:
      'The bytes are not a request of HTTP/1.1. Or Host is missing or malformed, or Host, Content-Type or Authorization is given twice.',
    fix: 'Send the request with a library for HTTP. The connection is closed.',
  },
  request_timeout: {
    cause: 'The headers did not arrive within 10 seconds, or the whole request not within 15 seconds.',
    fix: 'Nothing was done. Send the whole request at once, on a new connection.',
  },
  headers_too_large: {
    cause: 'The request line and the headers are larger than 16 KiB, or there are more than 1000 headers.',
    fix: 'Send shorter headers, above all fewer cookies, or a shorter query.',
  },
  route_not_found: { cause: 'No such path.', fix: 'Paths carry no version segment: compare with `/docs`.' },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    fix: 'The `Allow` header lists the methods.',
  },
  cross_site_request: {
    cause: 'A form of the hosted flow was sent from another page, or from one that is too old.',
    fix: startOver,
  },
  passkey_refused: {
    cause:
      'A page of the hosted flow got an answer of a passkey that does not hold. It is too old, was used before, is of another site, or the device has not checked the user.',
    fix: 'The user tries again on the page, or goes on without a passkey.',
  },
  passkey_unknown: {
    cause: 'The passkey was removed, or its user was erased.',
    fix: 'The user goes on without it, and may save another one.',
  },
  passkey_other_mode: {
    cause: 'The passkey was saved in a session of the other mode.',
    fix: 'The user goes on without it. Test and live mode have users of their own.',
  },
  operator_unknown: {
    cause: 'The operator token is missing, unknown or revoked.',
    fix: 'Sign in with `svcadmin login`, or ask an owner for a token.',
  },
  authorization_pending: {
    cause: 'A program signs in, and no member has confirmed its code in the portal yet.',
    fix: 'Poll again after `interval` seconds.',
  },
  slow_down: {
    cause: 'A program that signs in has polled before `interval` seconds had passed.',
    fix: 'Wait 5 seconds longer between two polls, from now on.',
  },
  expired_token: {
    cause: 'No member has confirmed the login within 10 minutes.',
    fix: 'Start again: `svc login`.',
  },
  device_login_denied: {
    cause: 'A member has refused the login, or the membership has changed since it was confirmed.',
    fix: 'Start again: `svc login`, and confirm its code in the portal.',
  },
  passkey_required: {
    cause:
      'A member changes secrets, addresses or members, and the passkey was not asked for within 30 minutes.',
    fix: 'Sign in to the portal again.',
  },
  not_permitted: {
    cause: 'The role of the operator does not allow this.',
    fix: '`svcadmin whoami` shows the role; an owner can do it.',
  },
  not_found: {
    cause: 'No record has this identifier.',
    fix: 'Check the identifier and the address of the server.',
  },
  conflict: {
    cause: 'The state of the record does not allow this, or another operator is changing it.',
    fix: 'Show the record first.',
  },
  refused: { cause: 'A rule forbids it.', fix: 'The text names the rule.' },
  reason_required: {
    cause: 'The command shows personal data of a live user, and was given no reason.',
    fix: 'Give the reason with `--reason`, such as the number of a ticket. The audit log keeps it.',
  },
};
