import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AccessDeniedError,
  AuthenticationError,
  AuthorizationError,
  CodeUsedError,
  ConfigurationError,
  createClient,
  InvalidRequestError,
  NotFoundError,
  NotVerifiedError,
  PaymentRequiredError,
  RateLimitError,
  ServiceError,
  type SvcError,
  settingsFrom,
} from '../../sdk/typescript/src/index.ts';
import { FlowError, type Person, walkFlow } from '../../sdk/typescript/src/testing.ts';
import { shopDomain } from '../api/storefront/shop.ts';
import { startReceiver } from '../harness/receiver.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createAccount, createClientWithoutWaits, createShopAccount } from './accounts.ts';

let server: TestServer;
let account: Awaited<ReturnType<typeof createAccount>>;
beforeAll(async () => {
  server = await startTestServer();
  account = await createAccount(server);
});
afterAll(() => server.stop());

const scope = ['age_18_plus', 'country'] as const;
type Client = ReturnType<typeof createClient>;

/** Verifies a sandbox user, and returns the redirect with its code. */
async function verifyUser(client: Client, person: Person = 'adult') {
  const { url, state, codeVerifier } = await client.authorizationUrl({ scope });
  const end = await walkFlow(url, { person });
  return { end, state, codeVerifier, code: end.searchParams.get('code') ?? '' };
}

const failureOf = async (call: Promise<unknown> | (() => unknown)): Promise<unknown> => {
  try {
    return await (typeof call === 'function' ? call() : call);
  } catch (error) {
    return error;
  }
};

describe('a client of the TypeScript SDK', () => {
  it('makes the authorization URL, exchanges the code, reads the claims and revokes the token', async () => {
    const client = createClient(account.settings);
    const { end, state, codeVerifier } = await verifyUser(client);
    const { code } = client.callback(end, { state });
    const token = await client.exchange({ code, codeVerifier });
    expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: scope.join(' ') });
    const { claims, meta } = await client.userinfo(token.access_token);
    expect(claims).toEqual({ age_18_plus: true, country: 'DE' });
    expect(meta.claims_requested).toEqual(scope);
    await client.revoke(token.access_token);
    expect(await failureOf(client.userinfo(token.access_token))).toBeInstanceOf(AuthenticationError);
    await client.revoke(token.access_token);
  });

  it('reads the code from the URL, the path or the query of a redirect', async () => {
    const client = createClient(account.settings);
    const { end, state, code } = await verifyUser(client);
    for (const form of [end, end.href, end.pathname + end.search, end.search, end.searchParams])
      expect(client.callback(form, { state }).code).toBe(code);
  });

  it('throws an AuthorizationError from callback with the reason why the user was not verified', async () => {
    const client = createClient(account.settings);
    const { end, state } = await verifyUser(client, 'rejected');
    const error = await failureOf(() => client.callback(end, { state }));
    expect(error).toBeInstanceOf(AuthorizationError);
    expect(error).toMatchObject({
      code: 'verification_failed',
      reason: 'document_rejected',
      retryable: true,
      sessionId: end.searchParams.get('session_id'),
    });
    const { url, state: second } = await client.authorizationUrl({ scope });
    const declined = await walkFlow(url, { person: 'adult', consent: 'decline' });
    const refusal = await failureOf(() => client.callback(declined, { state: second }));
    expect(refusal).toMatchObject({ code: 'access_denied', reason: 'consent_declined', retryable: false });
  });

  it.each([
    ['an AccessDeniedError', 'duplicate', AccessDeniedError, 'access_denied', 403, false],
    ['a PaymentRequiredError', 'low-balance', PaymentRequiredError, 'payment_required', 402, false],
    ['a RateLimitError', 'minute-cap', RateLimitError, 'rate_limited', 429, true],
    ['a retryable ServiceError', 'unavailable', ServiceError, 'service_unavailable', 503, true],
  ] as const)(
    'throws %s when the code of the sandbox user %s is exchanged',
    async (_error, person, kind, errorCode, status, retryable) => {
      const { client, waits } = createClientWithoutWaits(account.settings);
      const { code, codeVerifier } = await verifyUser(client, person);
      const error = await failureOf(client.exchange({ code, codeVerifier }));
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ code: errorCode, status, retryable });
      expect((error as RateLimitError).requestId).toMatch(/^req_/);
      expect((error as SvcError).docUrl).toBe(`${server.baseUrl}/docs/errors#${errorCode}`);
      // Only the 503 is repeated, each time after its Retry-After.
      expect(waits).toEqual(person === 'unavailable' ? [5000, 5000] : []);
      if (person === 'minute-cap') expect((error as RateLimitError).retryAfterSeconds).toBeGreaterThan(0);
    },
  );

  it('names in docUrl the entry of the error that the service names', async () => {
    const rateLimited = `${server.baseUrl}/docs/errors#rate_limited-1`;
    const headers = { 'X-SVC-Error': 'rate_limited', Link: `<${rateLimited}>; rel="help"` };
    const fetch = async () => Response.json({ error: 'too many' }, { status: 429, headers });
    const client = createClient(account.settings, { fetch });
    expect(await failureOf(client.session('ses_a'))).toMatchObject({ docUrl: rateLimited });
  });

  it('returns the status of a session, and throws for an unknown session or a wrong API key', async () => {
    const client = createClient(account.settings);
    const { url } = await client.authorizationUrl({ scope });
    const { headers } = await fetch(url, { redirect: 'manual' });
    const sessionId = headers.get('location')?.split('/').at(-1) ?? '';
    const session = await client.session(sessionId);
    expect(session).toMatchObject({ sessionId, status: 'pending', isTestMode: true, scopes: scope });
    const unknown = await failureOf(client.session('ses_../../x'));
    expect(unknown).toBeInstanceOf(NotFoundError);
    expect(unknown).toMatchObject({ code: 'session_not_found' });
    const wrongKey = createClient({ ...account.settings, apiKey: 'svc_test_wrong' });
    const refused = await failureOf(wrongKey.session(sessionId));
    expect(refused).toBeInstanceOf(AuthenticationError);
    expect(refused).toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  it('exchanges a storefront code, also again with the same result, and throws for a changed request', async () => {
    const settings = await createShopAccount(server);
    const client = createClient(settings);
    const { code } = await verifyUser(client);
    const request = {
      code,
      redirect_uri: settings.redirectUri,
      shop_domain: shopDomain,
      customer_id: '40217',
    };
    const first = await client.exchangeStorefront(request);
    expect(first).toMatchObject({
      verified: true,
      claims: { age_18_plus: true },
      verification_level: 'document',
    });
    expect(await client.exchangeStorefront(request)).toEqual(first);
    const other = await failureOf(client.exchangeStorefront({ ...request, customer_id: '2' }));
    expect(other).toMatchObject({ code: 'code_not_found', status: 404 });
    const forged = createClient({ ...settings, integrationSecret: 'intsec_wrong' });
    expect(await failureOf(forged.exchangeStorefront(request))).toMatchObject({ code: 'invalid_signature' });
    const unknown = (await verifyUser(client, 'unknown')).code;
    const nothing = await failureOf(client.exchangeStorefront({ ...request, code: unknown }));
    expect(nothing).toBeInstanceOf(NotVerifiedError);
    expect(nothing).toMatchObject({ code: 'no_positive_claim', status: 422 });
  });

  it('reads its settings from the environment, and a call names the missing setting', async () => {
    const { baseUrl, clientId, redirectUri } = account.settings;
    const env = { SVC_BASE_URL: `${baseUrl}/`, SVC_CLIENT_ID: clientId, SVC_REDIRECT_URI: redirectUri };
    const client = createClient(settingsFrom(env));
    const { code, codeVerifier } = await verifyUser(client);
    const error = await failureOf(client.exchange({ code, codeVerifier }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toContain('clientSecret');
    expect(await failureOf(() => createClient(settingsFrom({})))).toBeInstanceOf(ConfigurationError);
  });

  it('throws errors whose text and fields do not contain the client secret', async () => {
    const client = createClient({ ...account.settings, clientSecret: 'svc_secret_of_nobody' });
    const error = (await failureOf(
      client.exchange({ code: 'svc_code_x', codeVerifier: 'v'.repeat(43) }),
    )) as Error;
    expect(error).toMatchObject({ code: 'invalid_client', status: 401 });
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain(
      'of_nobody',
    );
  });
});

describe('an exchange of the TypeScript SDK whose response is lost', () => {
  it('is charged once, and its repeated attempt throws a CodeUsedError with the charge', async () => {
    const { partner, settings } = await createAccount(server);
    let lost = 0;
    const lossy: typeof fetch = async (...parameters) => {
      const response = await fetch(...parameters);
      await response.text();
      if (lost++ === 0) throw new TypeError('the connection was reset');
      return fetch(...parameters);
    };
    const { client, waits } = createClientWithoutWaits(settings, { fetch: lossy });
    const { code, codeVerifier } = await verifyUser(client);
    const error = await failureOf(client.exchange({ code, codeVerifier }));
    expect(error).toBeInstanceOf(CodeUsedError);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: 'invalid_grant', answerLost: true, retryable: false });
    expect(waits).toEqual([1000]);
    const { partnerId } = partner;
    const { entries } = await server.admin.wallets.statement.query({ partnerId, mode: 'test' });
    const charges = entries.filter(({ kind }) => kind === 'token');
    expect(charges.map(({ id }) => id)).toEqual([(error as CodeUsedError).chargeId]);
    const again = await failureOf(createClient(settings).exchange({ code, codeVerifier }));
    expect(again).toMatchObject({ code: 'invalid_grant', answerLost: false });
  });
});

describe('walkFlow', () => {
  it('lists the sandbox users if the given one is unknown, and quotes the page where the flow stopped', async () => {
    const client = createClient(account.settings);
    const { url } = await client.authorizationUrl({ scope });
    const unknown = await failureOf(walkFlow(url, { person: 'grandmother' }));
    expect(unknown).toBeInstanceOf(FlowError);
    expect((unknown as Error).message).toMatch(/^unknown_person: "grandmother" is none of adult, new-adult/);
    const wrong = createClient({ ...account.settings, redirectUri: 'http://localhost:1/other' });
    const stopped = await failureOf(
      walkFlow((await wrong.authorizationUrl({ scope })).url, { person: 'adult' }),
    );
    expect(stopped).toMatchObject({ code: 'unexpected_page' });
    expect((stopped as Error).message).toMatch(/status 400: .*redirect_uri/);
  });
});

it('verifyWebhook of the TypeScript SDK accepts the deliveries of a verification, and returns typed events', async () => {
  const receiver = await startReceiver();
  const { partner, settings } = await createAccount(server);
  const { signingSecret } = await server.admin.webhooks.set.mutate({
    keyId: partner.keyId,
    url: receiver.url,
  });
  const client = createClient({ ...settings, webhookSecret: signingSecret });
  await verifyUser(client);
  await expect.poll(() => receiver.received.length).toBe(2);
  receiver.close();
  const events = await Promise.all(
    receiver.received.map(({ raw, headers }) => client.verifyWebhook({ body: raw, headers })),
  );
  expect(events.map(({ event }) => event).sort()).toEqual([
    'enrollment.created',
    'verification.session.completed',
  ]);
  for (const event of events)
    if (event.event === 'verification.session.completed') expect(event.scopes).toEqual(scope);
});
