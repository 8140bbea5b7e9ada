import type { ErrorCode } from '../../contracts/errors.ts';

/** The usual cause of an error, and what to do, for support. For other errors, the advice of `errorExplanations` serves support too. */
export const errorGuide: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_request:
    'The description names the parameter. Content-Type must be JSON or a form, and nothing may be given twice.',
  invalid_grant:
    'A code lives 10 minutes and works once, for the client it was issued to and with the verifier of its challenge. `sessions show` says what became of it, and names the charge where it was used.',
  invalid_scope:
    'The client lost a claim between start and exchange: compare `clients show` with the scope of the session.',
  invalid_redirect_uri:
    'redirect_uri is compared byte for byte, trailing slash included: compare it with `sessions show` and `clients show`.',
  invalid_client:
    'Check client_id and secret. After `clients rotate-secret` the old secret ends within 2 seconds, unless --keep-old was given.',
  payment_required: 'Fund the wallet with `wallets fund`; the code stays usable until it expires.',
  access_denied:
    'The enrollment is blocked, for instance as a duplicate: `enrollments show`, and `enrollments unblock` where that is right.',
  client_inactive:
    'Activate the partner (`partners activate`), enable the client (`clients enable`), or move it off a revoked key (`clients update --key`).',
  rate_limited:
    'Wait for Retry-After. "Spend limit" is the partner\'s cap (`limits show`); "Token endpoint" is the client\'s limit (`clients update --token-requests-per-minute`).',
  server_error: 'A fault of ours: look for the X-Request-Id of the answer in the server log.',
  service_unavailable:
    'The database is away, or the clock is not trusted: `status` and `doctor`. A repeated exchange is never charged twice.',
  invalid_token:
    'Access tokens live an hour and end when revoked, or when their code is sent again later than 10 seconds after its use.',
  missing_api_key: 'Send Authorization: Bearer with an API key (svc_test_… or svc_live_…).',
  invalid_api_key:
    'The key was rotated or revoked, or its partner is not active: `keys show`, `partners show`.',
  unauthorized:
    'The session has not been authenticated yet, or is opened in another browser than the one that started it.',
  foreign_session: 'A session can be read only with the key of its client: `sessions show` names it.',
  session_not_found: 'Sessions live 30 minutes. `sessions show` still finds them for 30 days.',
  invalid_signature:
    'The signature covers {integration_id}.{timestamp}.{raw body}; the clock may be 300 s off. After a rotation the old secret ends at once.',
  integration_inactive:
    'Look at `integrations show`, then at its client, API key and partner: all four must be active.',
  shop_not_found:
    '`svcadmin request ID` has the shop that was sent; `integrations update --add-shop` adds it.',
  code_not_found: 'The code is unknown, expired, used, or was issued to a client that is not a storefront.',
  enrollment_not_found: 'No such enrollment with a client of this key.',
  no_positive_claim: 'The user was verified, and no claim came out true. Nothing was billed.',
  enrollment_blocked: 'As access_denied: `enrollments show`, and `enrollments unblock` where that is right.',
  event_not_found:
    'Ask for the events of that API key: `svcadmin events list --key KEY`. They are kept for 30 days.',
  idempotency_conflict: 'Use a new Idempotency-Key for a new request.',
  no_claim_available:
    'Ask for claims that the user consented to, or send the user through the hosted flow again.',
  malformed_http:
    'The caller, or a proxy before it, does not send sound HTTP/1.1: look at the Host header first.',
  request_timeout:
    'The request arrived too slowly: the network of the caller, or a proxy that holds bodies back.',
  headers_too_large:
    'Request line and headers are over 16 KiB, or over 1000 headers: the cookies of the caller, or a long state or scope.',
  route_not_found: 'Check path and version: compare `status` with this svcadmin.',
  cross_site_request: 'The form was sent from another site, or its page is too old: start again.',
  passkey_refused: 'The user tries again, or goes on without a passkey; `users show` lists those of a user.',
  passkey_unknown: 'It was removed, or its user was erased. The user goes on without it.',
  passkey_other_mode: 'Passkeys of test mode do not work in live mode, nor the other way round.',
  authorization_pending: 'A member confirms the code of `svc login` at /portal/devices.',
  expired_token: 'The code was not confirmed in time: the member starts `svc login` again.',
  device_login_denied:
    'The member starts `svc login` again: the code was refused, or the membership has changed.',
  passkey_required: 'Sign in to the portal again; this is about members of partners, not operators.',
  not_permitted: '`whoami` shows your role. An owner can do it, or create an operator with another role.',
  not_found: 'Check the identifier, and whether you talk to the right server (`whoami`).',
};

/** Errors in the redirect to the partner (interface 7.3). No response of an endpoint has these codes. */
export const redirectGuide: Readonly<Record<string, string>> = {
  verification_failed:
    'The user cancelled or was not verified. The failed event and `sessions show` have the reason.',
  session_expired: 'The user took longer than 30 minutes: send them to /verify/start again.',
};
