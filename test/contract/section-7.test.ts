import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import type { TestPartner } from '../harness/partner.ts';
import type { Browser, Page } from '../journey/browser.ts';
import { codeFor, fields, type Shop } from '../storefront/shop.ts';
import { breakable } from './breakable.ts';
import { row } from './row.ts';
import { minute, startWorld, type World } from './world.ts';

let world: World;
let partner: TestPartner;
let shop: Shop;
const fault = breakable();
beforeAll(async () => {
  world = await startWorld({ replacements: fault.replacements });
  partner = await world.partner({ funds: 100_000 });
  shop = await world.shop();
});
afterAll(() => world.stop());
beforeEach(() => world.next());

describe('formats', () => {
  row('7.1 rule 1', async () => {
    const answer = await world.session('ses_x', undefined);
    expect(Object.keys(answer.body as object)).toEqual(['success', 'error']);
  });
  row('7.1 rule 2', async () => {
    const answer = await world.exchange(partner, await world.visit(partner), { grant_type: 'password' });
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

  row('7.2 401 / Missing API key. Use Authorization: Bearer {key}', async () => {
    const error = 'Missing API key. Use Authorization: Bearer {key}';
    await expectError(world.session('ses_x', undefined), 401, error);
    await expectError(world.session('ses_x', `Token ${partner.apiKey}`), 401, error);
  });
  row('7.2 401 / Invalid or inactive API key', async () => {
    await expectError(world.session('ses_x', 'Bearer svc_test_x'), 401, 'Invalid or inactive API key');
  });
  row('7.2 401 / Unauthorized', async () => {
    const { first } = await world.open(partner);
    // Another browser: it has not the cookie of the one that started.
    const answer = await fetch(first.url, { headers: { accept: 'application/json' } });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ success: false, error: 'Unauthorized' });
  });
  row('7.2 403 / Forbidden: this session belongs to a different API key', async () => {
    const { sessionId } = await world.open(partner);
    const other = `Bearer ${(await world.partner()).apiKey}`;
    const error = 'Forbidden: this session belongs to a different API key';
    await expectError(world.session(sessionId, other), 403, error);
  });
  row('7.2 404 / Session not found or expired', async () => {
    const error = 'Session not found or expired';
    for (const id of ['ses_x', 'x'.repeat(1_000)]) await expectError(world.session(id, key()), 404, error);
    const { sessionId } = await world.open(partner);
    world.clock.advance(30 * minute);
    await expectError(world.session(sessionId, key()), 404, error);
  });
  row('7.2 500 / Internal server error', async () => {
    for (const kind of ['fault', 'outage'] as const) {
      fault.break('sessions', kind);
      await expectError(world.session('ses_x', key()), 500, 'Internal server error');
      fault.mend();
    }
  });
});

describe('authorization errors', () => {
  /** The whole query, each parameter once, with the reason before its text. */
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
      ['iss', world.baseUrl],
      ['session_id', expect.stringMatching(/^ses_\w{22}$/)],
    ]);
  }
  const accept = (browser: Browser, page: Page) => browser.press(page, 'decision=accept');

  row('7.3 access_denied', async () => {
    const { browser, first, state } = await world.open(partner);
    expectReturn(await browser.press(first, 'decision=decline'), 'consent_declined', state);
    expect(reasons.consent_declined.error).toBe('access_denied');
  });
  row('7.3 verification_failed', async () => {
    const abandoned = await world.open(partner);
    const asked = await accept(abandoned.browser, abandoned.first);
    const left = await abandoned.browser.press(asked, 'decision=cancel');
    expectReturn(left, 'abandoned', abandoned.state);
    for (const [person, reason] of [
      ['rejected', 'document_rejected'],
      ['source-down', 'source_error'],
    ] as const) {
      const { browser, first, state } = await world.open(partner);
      const end = await browser.press(await accept(browser, first), `person=${person}`);
      expectReturn(end, reason, state);
      expect(reasons[reason].error).toBe('verification_failed');
    }
    expect(reasons.abandoned.error).toBe('verification_failed');
  });
  row('7.3 session_expired', async () => {
    const { browser, first, state } = await world.open(partner);
    world.clock.advance(30 * minute);
    expectReturn(await accept(browser, first), 'session_expired', state);
    expect(reasons.session_expired.error).toBe('session_expired');
  });
  row('7.3 invalid_redirect_uri', async () => {
    const own = await world.partner();
    const { browser, first, state } = await world.open(own);
    const elsewhere = 'http://localhost:9999/callback?new=1';
    await world.admin.clients.update.mutate({ clientId: own.clientId, redirectUris: [elsewhere] });
    expectReturn(await accept(browser, first), 'invalid_redirect_uri', state, `${elsewhere}&`);
    expect(reasons.invalid_redirect_uri.error).toBe('invalid_redirect_uri');
  });
  row('7.3 invalid_request', async () => {
    const answer = await world.start(partner, { code_challenge: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.has('location')).toBe(false);
  });
});

describe('other endpoints', () => {
  row('7.5 userinfo / 401', async () => {
    const answer = await world.userinfo('Bearer x');
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    expect((await world.userinfo(undefined)).headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
  row('7.5 userinfo / 429', async () => {
    const own = await world.partner({ client: { userinfoRequestsPerMinute: 2 } });
    const bearer = `Bearer ${await world.token(own)}`;
    world.clock.advance(20_000);
    for (const status of [200, 200, 429]) expect((await world.userinfo(bearer)).status).toBe(status);
    const answer = await world.userinfo(bearer);
    expect(answer.body).toMatchObject({ error: 'rate_limited' });
    expect(answer.headers.get('retry-after')).toBe('40');
  });
  row('7.5 revoke / 400 / 401 / 429', async () => {
    const own = await world.partner({ client: { tokenRequestsPerMinute: 1 } });
    const malformed = await world.revoke(own, undefined);
    expect(malformed).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const wrong = await world.revoke(own, 'x', { client_secret: 'x' });
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await world.revoke(own, 'x')).status).toBe(200);
    expect(await world.revoke(own, 'x')).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
  });
  row('7.5 storefront exchange / 400', async () => {
    expect((await world.storefront(shop, {})).status).toBe(400);
    expect((await world.storefront(shop, fields('x', { customer_id: 5 }))).status).toBe(400);
  });
  row('7.5 storefront exchange / 401', async () => {
    const missing = await world.storefront(shop, {}, { 'x-svc-signature': undefined });
    const wrong = await world.storefront(shop, {}, { 'x-svc-signature': `sha256=${'0'.repeat(64)}` });
    expect([missing.status, wrong.status]).toEqual([401, 401]);
  });
  row('7.5 storefront exchange / 404', async () => {
    const code = await codeFor(world, shop);
    const ask = async (changed: Record<string, string>) =>
      (await world.storefront(shop, fields(code, changed))).body;
    // In test mode, the text goes on with the shops that there are.
    const shopError = { error: expect.stringMatching(/^Shop not found/) };
    expect(await ask({ shop_domain: 'other.example' })).toMatchObject(shopError);
    expect(await ask({ code: 'x' })).toMatchObject({ error: 'Authorization code not found' });
  });
  row('7.5 storefront exchange / 422', async () => {
    const before = await world.balance(shop);
    const teen = await world.storefront(shop, fields(await codeFor(world, shop, 'teen', 'age_18_plus')));
    const twin = await world.storefront(shop, fields(await codeFor(world, shop, 'duplicate')));
    expect([teen.status, twin.status]).toEqual([422, 422]);
    expect(await world.balance(shop)).toBe(before);
  });
  row('7.5 storefront exchange / 429', async () => {
    const { partnerId } = shop;
    const limits = { partnerId, mode: 'test' as const };
    await world.admin.limits.set.mutate({ ...limits, perMinute: 0 });
    world.clock.advance(15_000);
    const body = fields(await codeFor(world, shop));
    const spend = await world.storefront(shop, body);
    expect(spend).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: minute bucket' } });
    expect(spend.headers.get('retry-after')).toBe('45');
    await world.admin.limits.set.mutate({ ...limits, perMinute: 60 });
    expect((await world.storefront(shop, body)).status).toBe(200);
    world.next();
    await Promise.all(Array.from({ length: 60 }, () => world.storefront(shop, {})));
    const many = await world.storefront(shop, {});
    expect(many).toMatchObject({ status: 429, body: { error: 'Integration rate limit exceeded' } });
  });
  row('7.5 storefront exchange / 503', async () => {
    const body = fields(await codeFor(world, shop));
    world.trust(false);
    expect((await world.storefront(shop, body)).status).toBe(503);
    world.trust(true);
    fault.break('ledger', 'outage');
    expect((await world.storefront(shop, body)).status).toBe(503);
    fault.mend();
    expect((await world.storefront(shop, body)).status).toBe(200);
  });
});
