import { type Endpoint, formOrJson, type Operation, type RefusedAnswer, spendRefusals } from './operation.ts';
import { sample } from './samples.ts';

const credentials = { client_id: sample.client, client_secret: sample.clientSecret };

const exchange = {
  grant_type: 'authorization_code',
  code: sample.code,
  redirect_uri: sample.redirectUri,
  code_verifier: sample.verifier,
};
const revocation = { token: sample.token, token_type_hint: 'access_token' };

const clientRefusals: readonly RefusedAnswer[] = [
  { code: 'invalid_client' },
  { code: 'client_inactive' },
  { code: 'rate_limited', text: 'Token endpoint rate limit exceeded', retryAfter: 25 },
  { code: 'rate_limited', text: 'Too many wrong client secrets', retryAfter: 25 },
  { code: 'server_error' },
];

/**
 * Client credentials are in the body, as the contract says, or in a Basic header, but never in both. The empty entry stands for the
 * body, because OpenAPI has no security scheme for it.
 */
const clientSecurity = [{}, { clientBasic: [] }];

/** The header that lets scripts of any site read an answer. */
const readableAnywhere = { 'Access-Control-Allow-Origin': '`*`: scripts of any site may read it' };

export const oauthOperations: Record<Endpoint, Operation> = {
  'POST /api/oauth/token': {
    operationId: 'exchangeCode',
    tag: 'OAuth',
    summary: 'Exchange an authorization code for an access token (billable)',
    description:
      'Interface 4.2. Debits the wallet once for each code. 402, 429, 503 and a 400 for a wrong parameter leave the code usable. A form or JSON; a parameter given twice is `invalid_request`. A JSON member that is null counts as absent. With HTTP Basic, `client_id` and `client_secret` are left out of the body. After a start with the scope `openid`, the answer also has `id_token`.',
    security: clientSecurity,
    consumes: formOrJson,
    request: { ...exchange, ...credentials },
    withBasic: { schema: 'TokenRequestWithBasicInput', request: exchange },
    success: {
      status: 200,
      description: 'The token, valid for an hour.',
      example: {
        access_token: sample.token,
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'age_18_plus country',
      },
    },
    errors: [
      { code: 'invalid_request', text: 'code is required' },
      {
        code: 'invalid_grant',
        text: `Authorization code already used at ${sample.at}; charge ${sample.charge}`,
      },
      { code: 'unsupported_grant_type' },
      { code: 'invalid_scope', text: 'This client may no longer ask for country' },
      { code: 'invalid_redirect_uri' },
      { code: 'payment_required' },
      { code: 'access_denied' },
      ...clientRefusals,
      ...spendRefusals,
    ],
    errorFormat: 'oauth',
    challenge: 'BasicChallenge',
  },
  'GET /api/oauth/userinfo': {
    operationId: 'readUserinfo',
    tag: 'OAuth',
    summary: 'Read the claims that a token stands for',
    description:
      'Interface 4.3. The claims as they were when the token was issued. 120 requests a minute per client.',
    security: [{ accessToken: [] }],
    success: {
      status: 200,
      description: 'The claims.',
      example: { sub: sample.sub, evaluated_at: sample.at, claims: sample.claims, meta: sample.meta },
    },
    errors: [
      { code: 'invalid_request', text: 'The query is not percent-encoded UTF-8' },
      { code: 'invalid_token', text: 'The access token expired at 2026-07-12T15:03:11.000Z' },
      { code: 'rate_limited', text: 'Userinfo rate limit exceeded', retryAfter: 25 },
      { code: 'server_error' },
      { code: 'service_unavailable', retryAfter: 5 },
    ],
    errorFormat: 'oauth',
    challenge: 'BearerChallenge',
  },
  'POST /api/oauth/revoke': {
    operationId: 'revokeToken',
    tag: 'OAuth',
    summary: 'End an access token',
    description:
      'Interface 4.4, RFC 7009. Answers 200 with an empty body also where the token is unknown, expired, revoked or another client’s. Shares the 30 requests a minute of the token endpoint.',
    security: clientSecurity,
    consumes: formOrJson,
    request: { ...revocation, ...credentials },
    withBasic: { schema: 'RevokeRequestWithBasicInput', request: revocation },
    success: { status: 200, description: 'The token is no longer valid. The body is empty.' },
    errors: [
      { code: 'invalid_request', text: 'token is required' },
      ...clientRefusals,
      { code: 'service_unavailable', retryAfter: 5 },
    ],
    errorFormat: 'oauth',
    challenge: 'BasicChallenge',
  },
  'GET /.well-known/oauth-authorization-server': {
    operationId: 'readMetadata',
    tag: 'Discovery',
    summary: 'Authorization server metadata',
    description: 'RFC 8414: what client libraries find out by themselves.',
    security: [],
    success: { status: 200, description: 'The metadata.', headers: readableAnywhere },
    errors: [{ code: 'malformed_http' }, { code: 'service_unavailable', retryAfter: 5 }],
    errorFormat: 'general',
  },
  'GET /.well-known/openid-configuration': {
    operationId: 'readOpenidConfiguration',
    tag: 'Discovery',
    summary: 'OpenID provider metadata',
    description: 'OpenID Connect Discovery 1.0: for clients that speak OpenID Connect.',
    security: [],
    success: { status: 200, description: 'The metadata.', headers: readableAnywhere },
    errors: [{ code: 'malformed_http' }, { code: 'service_unavailable', retryAfter: 5 }],
    errorFormat: 'general',
  },
  'GET /.well-known/jwks.json': {
    operationId: 'readKeys',
    tag: 'Discovery',
    summary: 'Public keys of access tokens and ID tokens',
    description:
      'RFC 7517. Access tokens are ES256, ID tokens RS256 or ES256; `kid` is in the header of every token.',
    security: [],
    success: { status: 200, description: 'The keys.', headers: readableAnywhere },
    errors: [{ code: 'malformed_http' }, { code: 'service_unavailable', retryAfter: 5 }],
    errorFormat: 'general',
  },
};
