import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import { codeFor, fields, type Shop } from '../api/storefront/shop.ts';
import type { TestPartner } from '../harness/partner.ts';
import type { Browser, Page } from '../journey/browser.ts';
import { breakable } from './breakable.ts';
import { type Harness, minute, startHarness } from './harness.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
const fault = breakable();
beforeAll(async () => {
  harness = await startHarness({ replacements: fault.replacements });
  partner = await harness.partner({ funds: 100_000 });
  shop = await harness.shop();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('the body of an error', () => {
  rule('7.1 rule 1', 'has the fields success and error at the session query', async () => {
    const answer = await harness.session('ses_x', undefined);
    expect(Object.keys(answer.body as object)).toEqual(['success', 'error']);
  });
  rule('7.1 rule 2', 'has the fields error and error_description at the token endpoint', async () => {
    const answer = await harness.exchange(partner, await harness.verifyUser(partner), {
      grant_type: 'password',
    });
    expect(Object.keys(answer.body as object)).toEqual(['error', 'error_description']);
  });
});

describe('a session query', () => {
  const expectError = async (
    answer: Promise<{ status: number; body: unknown }>,
    status: number,
    error: string,
  ) => expect(await answer).toMatchObject({ status, body: { success: false, error } });
  const key = () => `Bearer ${partner.apiKey}`;

  rule(
    '7.2 401 / Missing API key. Use Authorization: Bearer {key}',
    'gets 401 "Missing API key …" without an Authorization header, and with the scheme Token',
    async () => {
      const error = 'Missing API key. Use Authorization: Bearer {key}';
      await expectError(harness.session('ses_x', undefined), 401, error);
      await expectError(harness.session('ses_x', `Token ${partner.apiKey}`), 401, error);
    },
  );
  rule(
    '7.2 401 / Invalid or inactive API key',
    'gets 401 "Invalid or inactive API key" with an unknown API key',
    async () => {
      await expectError(harness.session('ses_x', 'Bearer svc_test_x'), 401, 'Invalid or inactive API key');
    },
  );
  rule(
    '7.2 403 / Forbidden: this session belongs to a different API key',
    'gets 403 "Forbidden …" with an API key of another partner',
    async () => {
      const { sessionId } = await harness.open(partner);
      const other = `Bearer ${(await harness.partner()).apiKey}`;
      const error = 'Forbidden: this session belongs to a different API key';
      await expectError(harness.session(sessionId, other), 403, error);
    },
  );
  rule(
    '7.2 404 / Session not found or expired',
    'gets 404 "Session not found or expired" for a wrong id, and 30 minutes after the start',
    async () => {
      const error = 'Session not found or expired';
      for (const id of ['ses_x', 'x'.repeat(1_000)])
        await expectError(harness.session(id, key()), 404, error);
      const { sessionId } = await harness.open(partner);
      harness.clock.advance(30 * minute);
      await expectError(harness.session(sessionId, key()), 404, error);
    },
  );
  rule(
    '7.2 500 / Internal server error',
    'gets 500 "Internal server error" after a defect, and while the database is away',
    async () => {
      for (const kind of ['fault', 'outage'] as const) {
        fault.break('sessions', kind);
        await expectError(harness.session('ses_x', key()), 500, 'Internal server error');
        fault.mend();
      }
    },
  );
});

describe('the page of a session', () => {
  rule('7.2 401 / Unauthorized', 'answers 401 "Unauthorized" without the cookie of the session', async () => {
    const { first } = await harness.open(partner);
    // Another browser, without the cookie of the first one.
    const answer = await fetch(first.url, { headers: { accept: 'application/json' } });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ success: false, error: 'Unauthorized' });
  });
});

describe('the redirect to the partner', () => {
  /** Checks the whole query of a redirect: each parameter once, and in `error_description` the reason before its text. */
  function expectReturn(
    { url }: Page,
    reason: Reason,
    state: string,
    uri = 'http://localhost:9999/callback?',
  ) {
    expect(url.startsWith(uri)).toBe(true);
    const query = [...new URLSearchParams(url.slice(uri.length))];
    expect(query).toEqual([
      ['error', reasons[reason].error],
      ['error_description', `${reason}: ${reasons[reason].text}`],
      ['state', state],
      ['iss', harness.baseUrl],
      ['session_id', expect.stringMatching(/^ses_\w{22}$/)],
    ]);
  }
  const accept = (browser: Browser, page: Page) => browser.press(page, 'decision=accept');

  rule('7.3 access_denied', 'has the error access_denied if the user declines the consent', async () => {
    const { browser, first, state } = await harness.open(partner);
    expectReturn(await browser.press(first, 'decision=decline'), 'consent_declined', state);
    expect(reasons.consent_declined.error).toBe('access_denied');
  });
  rule(
    '7.3 verification_failed',
    'has the error verification_failed if the user cancels, the document is rejected or the source is down',
    async () => {
      const abandoned = await harness.open(partner);
      const asked = await accept(abandoned.browser, abandoned.first);
      const left = await abandoned.browser.press(asked, 'decision=cancel');
      expectReturn(left, 'abandoned', abandoned.state);
      for (const [person, reason] of [
        ['rejected', 'document_rejected'],
        ['source-down', 'source_error'],
      ] as const) {
        const { browser, first, state } = await harness.open(partner);
        const end = await browser.press(await accept(browser, first), `person=${person}`);
        expectReturn(end, reason, state);
        expect(reasons[reason].error).toBe('verification_failed');
      }
      expect(reasons.abandoned.error).toBe('verification_failed');
    },
  );
  rule(
    '7.3 session_expired',
    'has the error session_expired if the user continues 30 minutes after the start',
    async () => {
      const { browser, first, state } = await harness.open(partner);
      harness.clock.advance(30 * minute);
      expectReturn(await accept(browser, first), 'session_expired', state);
      expect(reasons.session_expired.error).toBe('session_expired');
    },
  );
  rule(
    '7.3 invalid_redirect_uri',
    'has the error invalid_redirect_uri, and leads to the new URI, if the registered URI has changed',
    async () => {
      const own = await harness.partner();
      const { browser, first, state } = await harness.open(own);
      const elsewhere = 'http://localhost:9999/callback?new=1';
      await harness.admin.clients.update.mutate({ clientId: own.clientId, redirectUris: [elsewhere] });
      expectReturn(await accept(browser, first), 'invalid_redirect_uri', state, `${elsewhere}&`);
      expect(reasons.invalid_redirect_uri.error).toBe('invalid_redirect_uri');
    },
  );
  rule(
    '7.3 invalid_request',
    'does not happen if the start has no code_challenge: its answer is 400',
    async () => {
      const answer = await harness.start(partner, { code_challenge: undefined });
      expect(answer.status).toBe(400);
      expect(answer.headers.has('location')).toBe(false);
    },
  );
});

describe('userinfo', () => {
  rule(
    '7.5 userinfo / 401',
    'answers 401 invalid_token with a Bearer challenge to a malformed token',
    async () => {
      const answer = await harness.userinfo('Bearer x');
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
      expect((await harness.userinfo(undefined)).headers.get('www-authenticate')).toMatch(/^Bearer/);
    },
  );
  rule(
    '7.5 userinfo / 429',
    'answers 429 rate_limited with Retry-After to requests over the limit of the client',
    async () => {
      const own = await harness.partner({ client: { userinfoRequestsPerMinute: 2 } });
      const bearer = `Bearer ${await harness.token(own)}`;
      harness.clock.advance(20_000);
      for (const status of [200, 200, 429]) expect((await harness.userinfo(bearer)).status).toBe(status);
      const answer = await harness.userinfo(bearer);
      expect(answer.body).toMatchObject({ error: 'rate_limited' });
      expect(answer.headers.get('retry-after')).toBe('40');
    },
  );
});

describe('the revoke endpoint', () => {
  rule(
    '7.5 revoke / 400 / 401 / 429',
    'answers 400 without a token, 401 to a wrong secret, and 429 to requests over the limit',
    async () => {
      const own = await harness.partner({ client: { tokenRequestsPerMinute: 1 } });
      const malformed = await harness.revoke(own, undefined);
      expect(malformed).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
      const wrong = await harness.revoke(own, 'x', { client_secret: 'x' });
      expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      expect((await harness.revoke(own, 'x')).status).toBe(200);
      expect(await harness.revoke(own, 'x')).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
    },
  );
});

describe('the storefront exchange', () => {
  rule(
    '7.5 storefront exchange / 400',
    'answers 400 to a body without its fields, and to a customer_id that is a number',
    async () => {
      expect((await harness.storefront(shop, {})).status).toBe(400);
      expect((await harness.storefront(shop, fields('x', { customer_id: 5 }))).status).toBe(400);
    },
  );
  rule('7.5 storefront exchange / 401', 'answers 401 without a signature, and with a wrong one', async () => {
    const missing = await harness.storefront(shop, {}, { 'x-svc-signature': undefined });
    const wrong = await harness.storefront(shop, {}, { 'x-svc-signature': `sha256=${'0'.repeat(64)}` });
    expect([missing.status, wrong.status]).toEqual([401, 401]);
  });
  rule(
    '7.5 storefront exchange / 404',
    'answers 404 to an unknown shop_domain, and to an unknown code',
    async () => {
      const code = await codeFor(harness.server, shop);
      const ask = (changed: Record<string, string>) => harness.storefront(shop, fields(code, changed));
      // In test mode, the text also names the registered shops.
      const shopError = { error: expect.stringMatching(/^Shop not found/) };
      expect(await ask({ shop_domain: 'other.example' })).toMatchObject({ status: 404, body: shopError });
      const codeError = { error: 'Authorization code not found' };
      expect(await ask({ code: 'x' })).toMatchObject({ status: 404, body: codeError });
    },
  );
  rule(
    '7.5 storefront exchange / 422',
    'answers 422 to a user under 18 and to a duplicate identity, without a charge',
    async () => {
      const before = await harness.balance(shop);
      const teen = await harness.storefront(
        shop,
        fields(await codeFor(harness.server, shop, 'teen', 'age_18_plus')),
      );
      const twin = await harness.storefront(shop, fields(await codeFor(harness.server, shop, 'duplicate')));
      expect([teen.status, twin.status]).toEqual([422, 422]);
      expect(await harness.balance(shop)).toBe(before);
    },
  );
  rule(
    '7.5 storefront exchange / 429',
    'answers 429 at the spend cap, and after 60 requests of the integration in a minute',
    async () => {
      const { partnerId } = shop;
      const limits = { partnerId, mode: 'test' as const };
      await harness.admin.limits.set.mutate({ ...limits, perMinute: 0 });
      harness.clock.advance(15_000);
      const body = fields(await codeFor(harness.server, shop));
      const spend = await harness.storefront(shop, body);
      expect(spend).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: minute bucket' } });
      expect(spend.headers.get('retry-after')).toBe('45');
      await harness.admin.limits.set.mutate({ ...limits, perMinute: 60 });
      expect((await harness.storefront(shop, body)).status).toBe(200);
      harness.next();
      await Promise.all(Array.from({ length: 60 }, () => harness.storefront(shop, {})));
      const many = await harness.storefront(shop, {});
      expect(many).toMatchObject({ status: 429, body: { error: 'Integration rate limit exceeded' } });
    },
  );
  rule(
    '7.5 storefront exchange / 503',
    'answers 503 while the clock is not trusted or the database is away; later the code can be exchanged',
    async () => {
      const body = fields(await codeFor(harness.server, shop));
      harness.trust(false);
      expect((await harness.storefront(shop, body)).status).toBe(503);
      harness.trust(true);
      fault.break('ledger', 'outage');
      expect((await harness.storefront(shop, body)).status).toBe(503);
      fault.mend();
      expect((await harness.storefront(shop, body)).status).toBe(200);
    },
  );
});
