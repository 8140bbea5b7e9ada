import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeFor, fields } from '../api/storefront/shop.ts';
import type { TestPartner } from '../harness/partner.ts';
import { type Harness, startHarness } from './harness.ts';
import { receive } from './hooks.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

/** Checks that a changed start gets 400 with a JSON error of this text, and no redirect. */
async function expectFault(changes: Record<string, string | undefined>, text: string | RegExp) {
  const answer = await harness.start(partner, changes);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.body).toEqual({ success: false, error: expect.stringMatching(text) });
}

describe('the service', () => {
  rule(
    '4.1 GET /verify/start',
    'redirects GET /verify/start to the page of a new session, with an HttpOnly cookie',
    async () => {
      const answer = await harness.start(partner);
      expect(answer.status).toBe(302);
      expect(answer.headers.get('location')).toMatch(/\/verify\/session\/ses_[0-9A-Za-z]{22}$/);
      expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Lax/);
    },
  );
  rule(
    '4.2 POST /api/oauth/token',
    'answers 200 to POST /api/oauth/token with a code, as a form and as JSON, and charges 50 cents',
    async () => {
      for (const as of ['form', 'json'] as const) {
        const before = await harness.balance(partner);
        expect((await harness.exchange(partner, await harness.verifyUser(partner), { as })).status).toBe(200);
        expect(await harness.balance(partner)).toBe(before - 50);
      }
    },
  );
  rule(
    '4.3 GET /api/oauth/userinfo',
    'answers GET /api/oauth/userinfo with 200 for a token in the header, and 401 for one in the query',
    async () => {
      const token = await harness.token(partner);
      expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(200);
      // A token in the query is ignored.
      expect((await harness.userinfo(undefined, `?access_token=${token}`)).status).toBe(401);
    },
  );
  rule(
    '4.4 POST /api/oauth/revoke',
    'answers POST /api/oauth/revoke with an empty 200; 400 without a token; 401 for a wrong secret',
    async () => {
      for (const as of ['form', 'json'] as const) {
        const answer = await harness.revoke(partner, await harness.token(partner), { as });
        expect(answer).toMatchObject({ status: 200, text: '' });
      }
      expect((await harness.revoke(partner, undefined)).status).toBe(400);
      expect((await harness.revoke(partner, 'x', { client_secret: 'wrong' })).status).toBe(401);
    },
  );
  rule(
    '4.5 GET /api/verify/hvf-session/{session_id}',
    'answers GET /api/verify/hvf-session/{session_id} with 200 and the session of the API key',
    async () => {
      const { sessionId } = await harness.open(partner);
      const answer = await harness.session(sessionId, `Bearer ${partner.apiKey}`);
      expect(answer).toMatchObject({ status: 200, body: { success: true, session: { sessionId } } });
    },
  );
  rule(
    '4.6 POST /api/integrations/storefront/verify/exchange',
    'answers 200 to a storefront exchange with a code, and charges 50 cents',
    async () => {
      const shop = await harness.shop();
      const before = await harness.balance(shop);
      expect((await harness.storefront(shop, fields(await codeFor(harness.server, shop)))).status).toBe(200);
      expect(await harness.balance(shop)).toBe(before - 50);
    },
  );
  rule(
    '4.7 Webhook receiver (implemented by the partner; called by the service)',
    'posts a signed event as JSON to the webhook receiver, and counts any 2xx answer as delivered',
    async () => {
      const own = await harness.partner();
      // Any 2xx acknowledges, and the body is not inspected.
      const hooks = await receive(harness, own, (response) => response.writeHead(299).end('{"ok":false}'));
      await harness.verifyUser(own);
      const { headers } = await hooks.event('verification.session.completed');
      expect(headers).toMatchObject({
        'content-type': expect.stringMatching(/^application\/json/),
        'x-svc-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      });
      await expect
        .poll(async () => (await hooks.delivery('verification.session.completed'))?.status)
        .toBe('delivered');
    },
  );
  rule(
    '4.8 Billable endpoint family',
    'answers 200 to a checkbox request for an enrolled user, and charges 50 cents',
    async () => {
      await harness.verifyUser(partner);
      const body = { enrollment_id: await harness.enrollment(partner), claims: ['age_18_plus'] };
      const before = await harness.balance(partner);
      expect((await harness.checkbox(partner, body, 'key-1')).status).toBe(200);
      expect(await harness.balance(partner)).toBe(before - 50);
    },
  );
});

describe('GET /verify/start', () => {
  rule('4.1 client_id', 'answers 400 without a client_id, and with an unknown one', async () => {
    await expectFault({ client_id: undefined }, 'client_id is required');
    await expectFault({ client_id: 'cli_unknown' }, /client_id/);
  });
  rule(
    '4.1 redirect_uri',
    'answers 400 without a redirect_uri, and with one that is not registered',
    async () => {
      await expectFault({ redirect_uri: undefined }, 'redirect_uri is required');
      await expectFault({ redirect_uri: 'https://evil.example/callback' }, /redirect_uri/);
    },
  );
  rule('4.1 state', 'answers 400 without a state of at least 16 characters', async () => {
    await expectFault({ state: undefined }, 'state is required');
    await expectFault({ state: 's'.repeat(15) }, 'state must be at least 16 characters');
    expect((await harness.start(partner, { state: 's'.repeat(16) })).status).toBe(302);
  });
  rule(
    '4.1 scope',
    'answers 400 without a scope, with only unknown claims, and with a claim not permitted for the client',
    async () => {
      await expectFault({ scope: undefined }, 'scope is required');
      await expectFault({ scope: 'shoe_size' }, /scope/);
      await expectFault({ scope: 'age_18_plus age_21_plus' }, /may not ask for age_21_plus/);
      expect((await harness.start(partner, { scope: 'age_18_plus shoe_size' })).status).toBe(302);
    },
  );
  rule(
    '4.1 code_challenge',
    'answers 400 without a code_challenge, and with one of 42 characters',
    async () => {
      await expectFault({ code_challenge: undefined }, 'code_challenge is required');
      await expectFault({ code_challenge: 'c'.repeat(42) }, /code_challenge/);
    },
  );
  rule('4.1 code_challenge_method', 'answers 400 if code_challenge_method is missing or plain', async () => {
    await expectFault({ code_challenge_method: undefined }, /code_challenge_method/);
    await expectFault({ code_challenge_method: 'plain' }, 'code_challenge_method must be S256');
  });

  it('answers 400 to 14 redirect URIs that nearly equal the registered one', async () => {
    const near = [
      'http://localhost:9999/callback/',
      'http://localhost:9999/callback?x=1',
      'http://localhost:9999/Callback',
      'http://localhost:9998/callback',
      'http://localhost/callback',
      'https://localhost:9999/callback',
      'http://127.0.0.1:9999/callback',
      'http://LOCALHOST:9999/callback',
      'http://user@localhost:9999/callback',
      'http://localhost:9999/x/../callback',
      'http://localhost:9999//callback',
      'http://localhost:9999/callback#f',
      'http://localhost:9999/%63allback',
      'http://localhost:9999/callback ',
    ];
    for (const redirect_uri of near) await expectFault({ redirect_uri }, /redirect_uri/);
  });

  it('answers 400 with an HTML page to a browser that sends wrong parameters', async () => {
    const answer = await fetch(`${harness.baseUrl}/verify/start?state=x`, {
      headers: { accept: 'text/html' },
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
  });
});
