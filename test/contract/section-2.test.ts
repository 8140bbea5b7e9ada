import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { TokenResponse, UserinfoResponse } from '../../contracts/oauth.ts';
import { VerificationLevel } from '../../contracts/storefront.ts';
import { SessionStatus } from '../../contracts/verification.ts';
import type { TestPartner } from '../harness/partner.ts';
import { codeFor, fields, type Shop } from '../storefront/shop.ts';
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

const unused = {
  code: 'svc_code_unused',
  codeVerifier: 'v'.repeat(43),
  state: '',
  end: new URL('http://x/'),
};

/** Checks that a form and a JSON body without the field get 400, and that the response names the field. */
async function expectRequired(
  ask: (as: 'form' | 'json') => Promise<{ status: number; body: unknown }>,
  name: string,
) {
  for (const as of ['form', 'json'] as const) {
    const { status, body } = await ask(as);
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'invalid_request', error_description: `${name} is required` });
  }
}

describe('OAuth token request', () => {
  const without = (name: string) => (as: 'form' | 'json') =>
    harness.exchange(partner, unused, { [name]: undefined, as });

  rule('2.2 grant_type', async () => {
    await expectRequired(without('grant_type'), 'grant_type');
    const alone = { code: undefined, client_id: undefined, client_secret: undefined };
    const nothing = { ...alone, redirect_uri: undefined, code_verifier: undefined };
    for (const grant_type of ['client_credentials', 'refresh_token', 'Authorization_Code'])
      for (const others of [{}, nothing])
        for (const as of ['form', 'json'] as const) {
          const answer = await harness.exchange(partner, unused, { ...others, grant_type, as });
          expect(answer).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
        }
  });
  rule('2.2 code', () => expectRequired(without('code'), 'code'));
  rule('2.2 client_id', () => expectRequired(without('client_id'), 'client_id'));
  rule('2.2 client_secret', () => expectRequired(without('client_secret'), 'client_secret'));
  rule('2.2 redirect_uri', async () => {
    await expectRequired(without('redirect_uri'), 'redirect_uri');
    const verified = await harness.verifyUser(partner);
    const other = await harness.exchange(partner, verified, {
      redirect_uri: 'http://localhost:9999/callback/',
    });
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
    expect((await harness.exchange(partner, verified)).status).toBe(200);
  });
  rule('2.2 code_verifier', async () => {
    await expectRequired(without('code_verifier'), 'code_verifier');
    for (const verifier of ['v'.repeat(42), 'v'.repeat(129), `${'v'.repeat(43)}!`]) {
      const answer = await harness.exchange(partner, unused, { code_verifier: verifier });
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    }
  });
});

describe('OAuth token response', () => {
  const answered = async () =>
    TokenResponse.parse(
      (await harness.exchange(partner, await harness.verifyUser(partner), { as: 'json' })).body,
    );

  rule('2.3 access_token', async () => {
    const { access_token: token } = await answered();
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(decodeJwt(token)).toMatchObject({
      iss: harness.baseUrl,
      aud: harness.baseUrl,
      client_id: partner.clientId,
    });
  });
  rule('2.3 token_type', async () => expect((await answered()).token_type).toBe('Bearer'));
  rule('2.3 expires_in', async () => expect((await answered()).expires_in).toBe(3600));
  rule('2.3 scope', async () => {
    const verified = await harness.verifyUser(partner, 'adult', 'country shoe_size age_18_plus');
    expect((await harness.exchange(partner, verified)).body).toMatchObject({ scope: 'country age_18_plus' });
  });
});

describe('Userinfo response', () => {
  const read = async (by = partner, person = 'unknown-country') => {
    const token = await harness.token(by, person, 'country age_18_plus shoe_size');
    return { token, info: UserinfoResponse.parse((await harness.userinfo(`Bearer ${token}`)).body) };
  };

  rule('2.5 sub', async () => {
    const [first, again] = [await read(), await read()];
    expect(first.info.sub).toMatch(/^[\w-]{43}$/);
    expect(again.info.sub).toBe(first.info.sub);
    const { partnerId, keyId } = partner;
    const { id: clientId, clientSecret } = await harness.admin.clients.create.mutate({
      partnerId,
      keyId,
      name: 'Second site',
      redirectUris: ['http://localhost:9999/callback'],
      claims: ['age_18_plus', 'country'],
    });
    const sibling = await read({ ...partner, clientId, clientSecret });
    expect(sibling.info.sub).toBe(first.info.sub);
    const other = await read(await harness.partner());
    expect(other.info.sub).not.toBe(first.info.sub);
  });
  rule('2.5 evaluated_at', async () => {
    const issued = new Date(harness.clock.now()).toISOString();
    const { token, info } = await read();
    expect(info.evaluated_at).toBe(issued);
    harness.clock.advance(3_599_000);
    expect((await harness.userinfo(`Bearer ${token}`)).body).toEqual(info);
  });
  rule('2.5 claims', async () => {
    const { token, info } = await read();
    expect(info.claims).toEqual({ country: null, age_18_plus: true });
    // The claims are a snapshot: a later change of the client's claims does not affect them.
    await harness.admin.clients.update.mutate({ clientId: partner.clientId, claims: ['age_18_plus'] });
    expect((await harness.userinfo(`Bearer ${token}`)).body).toEqual(info);
    const claims = ['age_18_plus', 'identity_verified', 'country'] as const;
    await harness.admin.clients.update.mutate({ clientId: partner.clientId, claims: [...claims] });
  });
  rule('2.5 meta.claims_requested', async () =>
    expect((await read()).info.meta.claims_requested).toEqual(['country', 'age_18_plus', 'shoe_size']),
  );
  rule('2.5 meta.claims_resolved', async () =>
    expect((await read()).info.meta.claims_resolved).toEqual(['age_18_plus']),
  );
  rule('2.5 meta.claims_null', async () => expect((await read()).info.meta.claims_null).toEqual(['country']));
  rule('2.5 meta.claims_ignored', async () =>
    expect((await read()).info.meta.claims_ignored).toEqual(['shoe_size']),
  );
});

describe('Revoke request', () => {
  const without = (name: string) => (as: 'form' | 'json') =>
    harness.revoke(partner, 'x', { [name]: undefined, as });

  rule('2.6 token', () => expectRequired(without('token'), 'token'));
  rule('2.6 token_type_hint', async () => {
    expect((await harness.revoke(partner, 'x', { token_type_hint: 'access_token', as: 'json' })).status).toBe(
      200,
    );
    const other = await harness.revoke(partner, 'x', { token_type_hint: 'refresh_token' });
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
  rule('2.6 client_id', () => expectRequired(without('client_id'), 'client_id'));
  rule('2.6 client_secret', () => expectRequired(without('client_secret'), 'client_secret'));
});

describe('Hosted verification session', () => {
  const read = async (by: TestPartner, sessionId: string) => {
    const { status, body } = await harness.session(sessionId, `Bearer ${by.apiKey}`);
    expect(status).toBe(200);
    return body as { session: Record<string, unknown> };
  };
  const open = async () => {
    const { sessionId } = await harness.open(partner, 'country shoe_size age_18_plus');
    return { sessionId, ...(await read(partner, sessionId)).session };
  };

  rule('2.7 sessionId', async () => {
    const session = await open();
    expect(session).toMatchObject({ sessionId: expect.stringMatching(/^ses_[0-9A-Za-z]{22}$/) });
  });
  rule('2.7 status', async () => {
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
  });
  rule('2.7 scopes', async () =>
    expect(await open()).toMatchObject({ scopes: ['country', 'shoe_size', 'age_18_plus'] }),
  );
  rule('2.7 isTestMode', async () => {
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
  rule('2.7 createdAt', async () =>
    expect(await open()).toMatchObject({ createdAt: new Date(harness.clock.now()).toISOString() }),
  );
  rule('2.7 expiresAt', async () => {
    const expiresAt = new Date(harness.clock.now() + 30 * 60_000).toISOString();
    expect(await open()).toMatchObject({ expiresAt });
  });
});

describe('Storefront exchange request', () => {
  const expectNamed = async (name: string) => {
    const answer = await harness.storefront(shop, fields('svc_code_unused', { [name]: undefined }));
    expect(answer).toMatchObject({ status: 400, body: { error: `${name} is required` } });
  };
  rule('2.8 code', () => expectNamed('code'));
  rule('2.8 redirect_uri', async () => {
    await expectNamed('redirect_uri');
    const code = await codeFor(harness, shop);
    const other = await harness.storefront(shop, fields(code, { redirect_uri: 'http://localhost:9999/' }));
    expect(other.status).toBe(400);
    expect((await harness.storefront(shop, fields(code))).status).toBe(200);
  });
  rule('2.8 shop_domain', () => expectNamed('shop_domain'));
  rule('2.8 customer_id', () => expectNamed('customer_id'));
});

describe('Storefront exchange response', () => {
  const answered = async (person = 'adult') =>
    (await harness.storefront(shop, fields(await codeFor(harness, shop, person)))).body;

  rule('2.9 verified', async () => expect(await answered()).toMatchObject({ verified: true }));
  rule('2.9 claims', async () =>
    expect(await answered('unknown-country')).toMatchObject({ claims: { age_18_plus: true, country: null } }),
  );
  rule('2.9 verification_level', async () => {
    const levels = { 'age-only': 'basic', adult: 'document', biometric: 'biometric' };
    expect(Object.values(levels)).toEqual(VerificationLevel.options);
    for (const [person, verification_level] of Object.entries(levels))
      expect(await answered(person)).toMatchObject({ verification_level });
  });
  rule('2.9 enrollment_id', async () => {
    const answer = await answered('new-adult');
    expect(answer).toMatchObject({ enrollment_id: await harness.enrollment(shop) });
  });
});

describe('Other records', () => {
  rule('2.10 rule 1', async () => {
    const own = await harness.partner();
    const list = () => harness.admin.enrollments.list.query({ partnerId: own.partnerId });
    const { browser, first } = await harness.open(own);
    const people = await browser.press(first, 'decision=accept');
    expect(await list()).toEqual([]);
    await browser.press(people, 'person=adult');
    await harness.verifyUser(own, 'adult');
    expect(await list()).toMatchObject([{ id: expect.stringMatching(/^enr_/), clientId: own.clientId }]);
  });
  rule('2.10 rule 2', async () => {
    const { partnerId } = await harness.partner();
    for (const mode of ['test', 'live'] as const) {
      const { id: keyId, ...key } = await harness.admin.keys.create.mutate({ partnerId, mode });
      expect(key).toMatchObject({ mode, webhookUrl: null });
      const url = 'https://shop.example/hooks';
      const set = await harness.admin.webhooks.set.mutate({ keyId, url });
      expect(set).toMatchObject({ url, signingSecret: expect.stringMatching(/^whsec_/) });
    }
  });
  rule('2.10 rule 3', async () => {
    const own = await harness.partner({ funds: 5000 });
    await harness.token(own);
    expect(await harness.balance(own)).toBe(4950);
    const { partnerId } = own;
    const less = { partnerId, mode: 'test' as const, amount: 4999, reference: 'too little' };
    await expect(harness.admin.wallets.fund.mutate(less)).rejects.toThrow(/least funding is 50\.00 USD/);
  });
});
