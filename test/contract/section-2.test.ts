import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { VerificationLevel } from '../../contracts/storefront.ts';
import { SessionStatus } from '../../contracts/verification.ts';
import { codeFor, fields, type Shop } from '../api/storefront/shop.ts';
import type { TestPartner } from '../harness/partner.ts';
import { type Harness, startHarness } from './harness.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
beforeAll(async () => {
  const source = { name: 'bank', label: 'Bank', issuer: 'http://localhost:9', clientId: 'svc' };
  harness = await startHarness({ env: { SVC_OIDC_SOURCES: JSON.stringify([source]) } });
  [partner, shop] = [await harness.partner({ funds: 100_000 }), await harness.shop()];
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('the session query', () => {
  const read = async (by: TestPartner, sessionId: string) => {
    const { status, body } = await harness.session(sessionId, `Bearer ${by.apiKey}`);
    expect(status).toBe(200);
    return body as { session: Record<string, unknown> };
  };
  const open = async () => {
    const { sessionId } = await harness.open(partner, 'country shoe_size age_18_plus');
    return { sessionId, ...(await read(partner, sessionId)).session };
  };

  rule('2.7 sessionId', 'returns a sessionId of ses_ and 22 letters or digits', async () => {
    const session = await open();
    expect(session).toMatchObject({ sessionId: expect.stringMatching(/^ses_[0-9A-Za-z]{22}$/) });
  });
  rule(
    '2.7 status',
    'returns the status pending, then complete; for a failed session the last status before the failure',
    async () => {
      const { browser, first, sessionId } = await harness.open(partner);
      const status = async () => SessionStatus.parse((await read(partner, sessionId)).session['status']);
      const seen = [await status()];
      await browser.press(await browser.press(first, 'decision=accept'), 'person=adult');
      seen.push(await status());
      expect(seen).toEqual(['pending', 'complete']);
      const failing = await harness.open(partner);
      await failing.browser.press(
        await failing.browser.press(failing.first, 'decision=accept'),
        'person=rejected',
      );
      // A failed session keeps the last status that it reached.
      expect((await read(partner, failing.sessionId)).session['status']).toBe('authenticated');
    },
  );
  rule(
    '2.7 scopes',
    'returns in scopes the requested claims in their order, also an unknown claim',
    async () => expect(await open()).toMatchObject({ scopes: ['country', 'shoe_size', 'age_18_plus'] }),
  );
  rule('2.7 isTestMode', 'returns isTestMode true for a test key, and false for a live key', async () => {
    expect(await open()).toMatchObject({ isTestMode: true });
    const { partnerId } = partner;
    const redirectUri = 'https://shop.example/callback';
    const { id: keyId, apiKey } = await harness.admin.keys.create.mutate({ partnerId, mode: 'live' });
    const { id: clientId, clientSecret } = await harness.admin.clients.create.mutate({
      partnerId,
      keyId,
      name: 'Live site',
      redirectUris: [redirectUri],
      claims: ['age_18_plus', 'country'],
      sources: ['bank'],
    });
    const live = { partnerId, keyId, apiKey, clientId, clientSecret, redirectUri };
    const started = await harness.start(live, { redirect_uri: redirectUri });
    const [sessionId = ''] = /ses_[0-9A-Za-z]+/.exec(started.headers.get('location') ?? '') ?? [];
    expect(await read(live, sessionId)).toMatchObject({ session: { sessionId, isTestMode: false } });
  });
  rule('2.7 createdAt', 'returns as createdAt the time when the session started', async () =>
    expect(await open()).toMatchObject({ createdAt: new Date(harness.clock.now()).toISOString() }),
  );
  rule(
    '2.7 expiresAt',
    'returns as expiresAt the time 30 minutes after the start of the session',
    async () => {
      const expiresAt = new Date(harness.clock.now() + 30 * 60_000).toISOString();
      expect(await open()).toMatchObject({ expiresAt });
    },
  );
});

describe('a storefront exchange', () => {
  const expectNamed = async (name: string) => {
    const answer = await harness.storefront(shop, fields('svc_code_unused', { [name]: undefined }));
    expect(answer).toMatchObject({ status: 400, body: { error: `${name} is required` } });
  };
  rule('2.8 code', 'gets 400 without code, and the error names code', () => expectNamed('code'));
  rule(
    '2.8 redirect_uri',
    'gets 400 without redirect_uri, or with another one than at the start',
    async () => {
      await expectNamed('redirect_uri');
      const code = await codeFor(harness.server, shop);
      const other = await harness.storefront(shop, fields(code, { redirect_uri: 'http://localhost:9999/' }));
      expect(other.status).toBe(400);
      expect((await harness.storefront(shop, fields(code))).status).toBe(200);
    },
  );
  rule('2.8 shop_domain', 'gets 400 without shop_domain, and the error names shop_domain', () =>
    expectNamed('shop_domain'),
  );
  rule('2.8 customer_id', 'gets 400 without customer_id, and the error names customer_id', () =>
    expectNamed('customer_id'),
  );
});

describe('the answer to a storefront exchange', () => {
  const answered = async (person = 'adult') =>
    (await harness.storefront(shop, fields(await codeFor(harness.server, shop, person)))).body;

  rule('2.9 verified', 'has verified: true', async () =>
    expect(await answered()).toMatchObject({ verified: true }),
  );
  rule('2.9 claims', 'has the claims of the user, with null for an unknown country', async () =>
    expect(await answered('unknown-country')).toMatchObject({ claims: { age_18_plus: true, country: null } }),
  );
  rule(
    '2.9 verification_level',
    'has the verification_level basic, document or biometric, as the user was verified',
    async () => {
      const levels = { 'age-only': 'basic', adult: 'document', biometric: 'biometric' };
      expect(Object.values(levels)).toEqual(VerificationLevel.options);
      for (const [person, verification_level] of Object.entries(levels))
        expect(await answered(person)).toMatchObject({ verification_level });
    },
  );
  rule('2.9 enrollment_id', 'has the id of the enrollment that the verification created', async () => {
    const answer = await answered('new-adult');
    expect(answer).toMatchObject({ enrollment_id: await harness.enrollment(shop) });
  });
});

describe('a partner', () => {
  rule(
    '2.10 rule 1',
    'gets an enrollment when a user first authenticates, and no second one later',
    async () => {
      const own = await harness.partner();
      const list = () => harness.admin.enrollments.list.query({ partnerId: own.partnerId });
      const { browser, first } = await harness.open(own);
      const people = await browser.press(first, 'decision=accept');
      expect(await list()).toEqual([]);
      await browser.press(people, 'person=adult');
      await harness.verifyUser(own, 'adult');
      expect(await list()).toMatchObject([{ id: expect.stringMatching(/^enr_/), clientId: own.clientId }]);
    },
  );
  rule(
    '2.10 rule 2',
    'can have test and live API keys; each gets a signing secret when its webhook URL is set',
    async () => {
      const { partnerId } = await harness.partner();
      for (const mode of ['test', 'live'] as const) {
        const { id: keyId, ...key } = await harness.admin.keys.create.mutate({ partnerId, mode });
        expect(key).toMatchObject({ mode, webhookUrl: null });
        const url = 'https://shop.example/hooks';
        const set = await harness.admin.webhooks.set.mutate({ keyId, url });
        expect(set).toMatchObject({ url, signingSecret: expect.stringMatching(/^whsec_/) });
      }
    },
  );
  rule(
    '2.10 rule 3',
    'pays 50 cents for an exchange from its wallet, and cannot fund the wallet with less than 50 USD',
    async () => {
      const own = await harness.partner({ funds: 5000 });
      await harness.token(own);
      expect(await harness.balance(own)).toBe(4950);
      const { partnerId } = own;
      const less = { partnerId, mode: 'test' as const, amount: 4999, reference: 'too little' };
      await expect(harness.admin.wallets.fund.mutate(less)).rejects.toThrow(/least funding is 50\.00 USD/);
    },
  );
});
