import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import type { TestPartner } from '../harness/partner.ts';
import type { Browser, Page } from '../journey/browser.ts';
import { codeFor, fields, type Shop } from '../storefront/shop.ts';
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

describe('formats', () => {
  rule('7.1 rule 1', async () => {
    const answer = await harness.session('ses_x', undefined);
    expect(Object.keys(answer.body as object)).toEqual(['success', 'error']);
  });
  rule('7.1 rule 2', async () => {
    const answer = await harness.exchange(partner, await harness.verifyUser(partner), {
      grant_type: 'password',
    });
    expect(Object.keys(answer.body as object)).toEqual(['error', 'error_description']);
  });
});

describe('API key errors', () => {
  const expectError = async (
    answer: Promise<{ status: number; body: unknown }>,
    status: number,
    error: string,
  ) => expect(await answer).toMatchObject({ status, body: { success: false, error } });
  const key = () => `Bearer ${partner.apiKey}`;

  rule('7.2 401 / Missing API key. Use Authorization: Bearer {key}', async () => {
    const error = 'Missing API key. Use Authorization: Bearer {key}';
    await expectError(harness.session('ses_x', undefined), 401, error);
    await expectError(harness.session('ses_x', `Token ${partner.apiKey}`), 401, error);
  });
  rule('7.2 401 / Invalid or inactive API key', async () => {
    await expectError(harness.session('ses_x', 'Bearer svc_test_x'), 401, 'Invalid or inactive API key');
  });
  rule('7.2 401 / Unauthorized', async () => {
    const { first } = await harness.open(partner);
    // Another browser, without the cookie of the first one.
    const answer = await fetch(first.url, { headers: { accept: 'application/json' } });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ success: false, error: 'Unauthorized' });
  });
  rule('7.2 403 / Forbidden: this session belongs to a different API key', async () => {
    const { sessionId } = await harness.open(partner);
    const other = `Bearer ${(await harness.partner()).apiKey}`;
    const error = 'Forbidden: this session belongs to a different API key';
    await expectError(harness.session(sessionId, other), 403, error);
  });
  rule('7.2 404 / Session not found or expired', async () => {
    const error = 'Session not found or expired';
    for (const id of ['ses_x', 'x'.repeat(1_000)]) await expectError(harness.session(id, key()), 404, error);
    const { sessionId } = await harness.open(partner);
    harness.clock.advance(30 * minute);
    await expectError(harness.session(sessionId, key()), 404, error);
  });
  rule('7.2 500 / Internal server error', async () => {
    for (const kind of ['fault', 'outage'] as const) {
      fault.break('sessions', kind);
      await expectError(harness.session('ses_x', key()), 500, 'Internal server error');
      fault.mend();
    }
  });
});

describe('authorization errors', () => {
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

  rule('7.3 access_denied', async () => {
    const { browser, first, state } = await harness.open(partner);
    expectReturn(await browser.press(first, 'decision=decline'), 'consent_declined', state);
    expect(reasons.consent_declined.error).toBe('access_denied');
  });
  rule('7.3 verification_failed', async () => {
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
  });
  rule('7.3 session_expired', async () => {
    const { browser, first, state } = await harness.open(partner);
    harness.clock.advance(30 * minute);
    expectReturn(await accept(browser, first), 'session_expired', state);
    expect(reasons.session_expired.error).toBe('session_expired');
  });
  rule('7.3 invalid_redirect_uri', async () => {
    const own = await harness.partner();
    const { browser, first, state } = await harness.open(own);
    const elsewhere = 'http://localhost:9999/callback?new=1';
    await harness.admin.clients.update.mutate({ clientId: own.clientId, redirectUris: [elsewhere] });
    expectReturn(await accept(browser, first), 'invalid_redirect_uri', state, `${elsewhere}&`);
    expect(reasons.invalid_redirect_uri.error).toBe('invalid_redirect_uri');
  });
  rule('7.3 invalid_request', async () => {
    const answer = await harness.start(partner, { code_challenge: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.has('location')).toBe(false);
  });
});

describe('other endpoints', () => {
  rule('7.5 userinfo / 401', async () => {
    const answer = await harness.userinfo('Bearer x');
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    expect((await harness.userinfo(undefined)).headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
  rule('7.5 userinfo / 429', async () => {
    const own = await harness.partner({ client: { userinfoRequestsPerMinute: 2 } });
    const bearer = `Bearer ${await harness.token(own)}`;
    harness.clock.advance(20_000);
    for (const status of [200, 200, 429]) expect((await harness.userinfo(bearer)).status).toBe(status);
    const answer = await harness.userinfo(bearer);
    expect(answer.body).toMatchObject({ error: 'rate_limited' });
    expect(answer.headers.get('retry-after')).toBe('40');
  });
  rule('7.5 revoke / 400 / 401 / 429', async () => {
    const own = await harness.partner({ client: { tokenRequestsPerMinute: 1 } });
    const malformed = await harness.revoke(own, undefined);
    expect(malformed).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const wrong = await harness.revoke(own, 'x', { client_secret: 'x' });
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await harness.revoke(own, 'x')).status).toBe(200);
    expect(await harness.revoke(own, 'x')).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
  });
  rule('7.5 storefront exchange / 400', async () => {
    expect((await harness.storefront(shop, {})).status).toBe(400);
    expect((await harness.storefront(shop, fields('x', { customer_id: 5 }))).status).toBe(400);
  });
  rule('7.5 storefront exchange / 401', async () => {
    const missing = await harness.storefront(shop, {}, { 'x-svc-signature': undefined });
    const wrong = await harness.storefront(shop, {}, { 'x-svc-signature': `sha256=${'0'.repeat(64)}` });
    expect([missing.status, wrong.status]).toEqual([401, 401]);
  });
  rule('7.5 storefront exchange / 404', async () => {
    const code = await codeFor(harness, shop);
    const ask = async (changed: Record<string, string>) =>
      (await harness.storefront(shop, fields(code, changed))).body;
    // In test mode, the text also names the registered shops.
    const shopError = { error: expect.stringMatching(/^Shop not found/) };
    expect(await ask({ shop_domain: 'other.example' })).toMatchObject(shopError);
    expect(await ask({ code: 'x' })).toMatchObject({ error: 'Authorization code not found' });
  });
  rule('7.5 storefront exchange / 422', async () => {
    const before = await harness.balance(shop);
    const teen = await harness.storefront(shop, fields(await codeFor(harness, shop, 'teen', 'age_18_plus')));
    const twin = await harness.storefront(shop, fields(await codeFor(harness, shop, 'duplicate')));
    expect([teen.status, twin.status]).toEqual([422, 422]);
    expect(await harness.balance(shop)).toBe(before);
  });
  rule('7.5 storefront exchange / 429', async () => {
    const { partnerId } = shop;
    const limits = { partnerId, mode: 'test' as const };
    await harness.admin.limits.set.mutate({ ...limits, perMinute: 0 });
    harness.clock.advance(15_000);
    const body = fields(await codeFor(harness, shop));
    const spend = await harness.storefront(shop, body);
    expect(spend).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: minute bucket' } });
    expect(spend.headers.get('retry-after')).toBe('45');
    await harness.admin.limits.set.mutate({ ...limits, perMinute: 60 });
    expect((await harness.storefront(shop, body)).status).toBe(200);
    harness.next();
    await Promise.all(Array.from({ length: 60 }, () => harness.storefront(shop, {})));
    const many = await harness.storefront(shop, {});
    expect(many).toMatchObject({ status: 429, body: { error: 'Integration rate limit exceeded' } });
  });
  rule('7.5 storefront exchange / 503', async () => {
    const body = fields(await codeFor(harness, shop));
    harness.trust(false);
    expect((await harness.storefront(shop, body)).status).toBe(503);
    harness.trust(true);
    fault.break('ledger', 'outage');
    expect((await harness.storefront(shop, body)).status).toBe(503);
    fault.mend();
    expect((await harness.storefront(shop, body)).status).toBe(200);
  });
});
