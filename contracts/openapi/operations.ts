import { oauthOperations } from './oauth-operations.ts';
import { type Endpoint, json, type Operation, type RefusedAnswer, spendRefusals } from './operation.ts';
import { sample } from './samples.ts';

const keyRefusals: readonly RefusedAnswer[] = [{ code: 'missing_api_key' }, { code: 'invalid_api_key' }];

/** Every public endpoint, in the order of the interface. The document contains no other endpoint. */
export const operations: Record<Endpoint, Operation> = {
  'GET /verify/start': {
    operationId: 'startVerification',
    tag: 'Hosted flow',
    summary: 'Send the user’s browser into the hosted flow',
    description:
      'Interface 4.1. For browsers: the flow ends at `redirect_uri` with `code` or `error`, and with `state`, `iss` and `session_id`. A refusal is a page for browsers (`Accept: text/html`) and JSON for programs; it is a redirect only after a start with the scope `openid`.',
    security: [],
    success: {
      status: 302,
      description: 'Into the hosted flow.',
      headers: { Location: 'The first page of the flow', 'Set-Cookie': 'Binds the browser to the session' },
    },
    errors: [
      { code: 'invalid_request', text: 'state must be at least 16 characters' },
      { code: 'rate_limited', text: 'Too many verifications were started from this address', retryAfter: 25 },
      { code: 'server_error' },
      { code: 'service_unavailable', retryAfter: 5 },
    ],
    otherwise: 'No other status is answered.',
    errorFormat: 'general',
    pages: true,
  },
  ...oauthOperations,
  'GET /api/verify/hvf-session/{session_id}': {
    operationId: 'readSession',
    tag: 'Sessions',
    summary: 'Read where a hosted session stands',
    description:
      'Interface 4.5. Only with the API key that owns the session, and for 30 minutes. 60 requests a minute per key.',
    security: [{ apiKey: [] }],
    success: {
      status: 200,
      description: 'The session.',
      example: {
        success: true,
        session: {
          sessionId: sample.session,
          status: 'complete',
          scopes: ['age_18_plus', 'country'],
          isTestMode: true,
          createdAt: sample.at,
          expiresAt: sample.expiresAt,
        },
      },
    },
    errors: [
      { code: 'invalid_request' },
      ...keyRefusals,
      { code: 'foreign_session' },
      { code: 'session_not_found' },
      { code: 'rate_limited', retryAfter: 25 },
      { code: 'server_error' },
    ],
    errorFormat: 'general',
    exactTexts: true,
    challenge: 'BearerChallenge',
  },
  'POST /api/integrations/storefront/verify/exchange': {
    operationId: 'exchangeStorefrontCode',
    tag: 'Storefront',
    summary: 'Exchange a verification code by a signed call (billable)',
    description:
      'Interface 4.6 and 5.4. `X-SVC-Signature` is `sha256=` and the lowercase hex HMAC-SHA256 of `{integration_id}.{timestamp}.{raw body}` under the integration secret. The same integration, code and body get the same answer again, unbilled, for as long as the code lives. A 422 is not billed and does not use the code up. 60 requests a minute per integration.',
    security: [{ integrationSignature: [] }],
    consumes: [json],
    request: {
      code: sample.code,
      redirect_uri: sample.redirectUri,
      shop_domain: 'shop.example',
      customer_id: '40217',
    },
    success: {
      status: 200,
      description: 'Verified, with at least one positive claim.',
      example: {
        verified: true,
        claims: sample.claims,
        verification_level: 'document',
        enrollment_id: sample.enrollment,
      },
    },
    errors: [
      { code: 'invalid_request', text: 'customer_id is required' },
      { code: 'invalid_redirect_uri' },
      { code: 'invalid_signature' },
      { code: 'integration_inactive' },
      { code: 'payment_required' },
      { code: 'shop_not_found' },
      { code: 'code_not_found' },
      { code: 'no_positive_claim' },
      { code: 'enrollment_blocked' },
      { code: 'rate_limited', text: 'Integration rate limit exceeded', retryAfter: 25 },
      { code: 'server_error' },
      ...spendRefusals,
    ],
    errorFormat: 'general',
  },
  'POST /api/checkbox/resolve': {
    operationId: 'resolveCheckbox',
    tag: 'Checkbox',
    summary: 'Ask again for claims of an enrolled user (billable, provisional)',
    description:
      'Provisional: the interface names this family and shows none of it, so fields may change until it does. Only claims that the user consented to at a client of this key and that are still fresh are answered; others are ignored. The same `Idempotency-Key` and body return the stored answer for 24 hours, unbilled.',
    security: [{ apiKey: [] }],
    consumes: [json],
    request: { enrollment_id: sample.enrollment, claims: ['age_18_plus', 'country', 'shoe_size'] },
    success: {
      status: 200,
      description: 'The claims.',
      example: {
        success: true,
        sub: sample.sub,
        evaluated_at: sample.at,
        claims: sample.claims,
        meta: sample.meta,
      },
    },
    errors: [
      { code: 'invalid_request', text: 'idempotency-key is required' },
      ...keyRefusals,
      { code: 'payment_required' },
      { code: 'access_denied' },
      { code: 'client_inactive' },
      { code: 'enrollment_not_found' },
      { code: 'no_claim_available' },
      { code: 'idempotency_conflict' },
      { code: 'server_error' },
      ...spendRefusals,
    ],
    errorFormat: 'general',
    challenge: 'BearerChallenge',
  },
  'GET /api/events': {
    operationId: 'listEvents',
    tag: 'Account',
    summary: 'List events that were sent, or would have been, by webhook',
    description:
      'To catch up after an outage. The events of this API key, of 30 days, the oldest first. An event is listed from 30 seconds after its time on, so that none comes before one that was listed. 60 requests a minute per key.',
    security: [{ apiKey: [] }],
    success: {
      status: 200,
      description: 'A page of events.',
      example: {
        success: true,
        events: [
          {
            event: 'verification.session.failed',
            event_id: sample.event,
            partner_id: sample.partner,
            session_id: sample.session,
            failure_reason: 'document_rejected',
            failed_at: sample.at,
          },
        ],
        hasMore: false,
      },
    },
    errors: [
      { code: 'invalid_request', text: 'after must be an event_id' },
      ...keyRefusals,
      { code: 'event_not_found' },
      { code: 'rate_limited', retryAfter: 25 },
      { code: 'server_error' },
      { code: 'service_unavailable', retryAfter: 5 },
    ],
    errorFormat: 'general',
    challenge: 'BearerChallenge',
  },
  'GET /api/wallet': {
    operationId: 'readWallet',
    tag: 'Account',
    summary: 'Read the wallet of this API key’s mode',
    description:
      'Balance, what is spent a day, days left, and the spend caps with what is used of them. 60 requests a minute per key.',
    security: [{ apiKey: [] }],
    success: {
      status: 200,
      description: 'The wallet.',
      example: {
        success: true,
        wallet: {
          isTestMode: true,
          balance: 125000,
          currency: 'USD',
          spentPerDay: 8450,
          daysLeft: 14.8,
          limits: { perMinute: 60, perHour: 1000, usedThisMinute: 3, usedThisHour: 171 },
        },
      },
    },
    errors: [
      { code: 'invalid_request', text: 'The query is not percent-encoded UTF-8' },
      ...keyRefusals,
      { code: 'rate_limited', retryAfter: 25 },
      { code: 'server_error' },
      { code: 'service_unavailable', retryAfter: 5 },
    ],
    errorFormat: 'general',
    challenge: 'BearerChallenge',
  },
};
