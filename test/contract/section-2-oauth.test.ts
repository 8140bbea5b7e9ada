import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { TokenResponse, UserinfoResponse } from '../../contracts/oauth.ts';
import type { TestPartner } from '../harness/partner.ts';
import { type Harness, startHarness } from './harness.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner({ funds: 100_000 });
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

describe('a token request', () => {
  const without = (name: string) => (as: 'form' | 'json') =>
    harness.exchange(partner, unused, { [name]: undefined, as });

  rule(
    '2.2 grant_type',
    'gets 400 without grant_type, and unsupported_grant_type for any value except authorization_code',
    async () => {
      await expectRequired(without('grant_type'), 'grant_type');
      const alone = { code: undefined, client_id: undefined, client_secret: undefined };
      const nothing = { ...alone, redirect_uri: undefined, code_verifier: undefined };
      for (const grant_type of ['client_credentials', 'refresh_token', 'Authorization_Code'])
        for (const others of [{}, nothing])
          for (const as of ['form', 'json'] as const) {
            const answer = await harness.exchange(partner, unused, { ...others, grant_type, as });
            expect(answer).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
          }
    },
  );
  rule('2.2 code', 'gets 400 invalid_request without code', () => expectRequired(without('code'), 'code'));
  rule('2.2 client_id', 'gets 400 invalid_request without client_id', () =>
    expectRequired(without('client_id'), 'client_id'),
  );
  rule('2.2 client_secret', 'gets 400 invalid_request without client_secret', () =>
    expectRequired(without('client_secret'), 'client_secret'),
  );
  rule(
    '2.2 redirect_uri',
    'gets 400 invalid_request without redirect_uri, and invalid_redirect_uri if it has an extra slash',
    async () => {
      await expectRequired(without('redirect_uri'), 'redirect_uri');
      const verified = await harness.verifyUser(partner);
      const other = await harness.exchange(partner, verified, {
        redirect_uri: 'http://localhost:9999/callback/',
      });
      expect(other).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
      expect((await harness.exchange(partner, verified)).status).toBe(200);
    },
  );
  rule(
    '2.2 code_verifier',
    'gets 400 invalid_request without a code_verifier of 43 to 128 permitted characters',
    async () => {
      await expectRequired(without('code_verifier'), 'code_verifier');
      for (const verifier of ['v'.repeat(42), 'v'.repeat(129), `${'v'.repeat(43)}!`]) {
        const answer = await harness.exchange(partner, unused, { code_verifier: verifier });
        expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
      }
    },
  );
});

describe('the answer to a code exchange', () => {
  const answered = async () =>
    TokenResponse.parse(
      (await harness.exchange(partner, await harness.verifyUser(partner), { as: 'json' })).body,
    );

  rule(
    '2.3 access_token',
    'has an access_token that is a JWT for this client, signed with ES256',
    async () => {
      const { access_token: token } = await answered();
      expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
      expect(decodeJwt(token)).toMatchObject({
        iss: harness.baseUrl,
        aud: harness.baseUrl,
        client_id: partner.clientId,
      });
    },
  );
  rule('2.3 token_type', 'has the token_type Bearer', async () =>
    expect((await answered()).token_type).toBe('Bearer'),
  );
  rule('2.3 expires_in', 'has 3600 as expires_in', async () =>
    expect((await answered()).expires_in).toBe(3600),
  );
  rule(
    '2.3 scope',
    'has in scope the requested claims in their order, without an unknown claim',
    async () => {
      const verified = await harness.walkPages(partner, 'adult', 'country shoe_size age_18_plus');
      expect((await harness.exchange(partner, verified)).body).toMatchObject({
        scope: 'country age_18_plus',
      });
    },
  );
});

describe('the answer of userinfo', () => {
  const read = async (by = partner, person = 'unknown-country') => {
    const token = await harness.token(by, person, 'country age_18_plus shoe_size');
    return { token, info: UserinfoResponse.parse((await harness.userinfo(`Bearer ${token}`)).body) };
  };

  rule(
    '2.5 sub',
    'has one sub for a user at all clients of a partner, and another sub at another partner',
    async () => {
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
    },
  );
  rule(
    '2.5 evaluated_at',
    'has as evaluated_at the time when the token was issued, as long as the token lives',
    async () => {
      const issued = new Date(harness.clock.now()).toISOString();
      const { token, info } = await read();
      expect(info.evaluated_at).toBe(issued);
      harness.clock.advance(3_599_000);
      expect((await harness.userinfo(`Bearer ${token}`)).body).toEqual(info);
    },
  );
  rule(
    '2.5 claims',
    'has the claims from the time when the token was issued, even if the client has lost one since',
    async () => {
      const { token, info } = await read();
      expect(info.claims).toEqual({ country: null, age_18_plus: true });
      // The claims are a snapshot: a later change of the client's claims does not affect them.
      await harness.admin.clients.update.mutate({ clientId: partner.clientId, claims: ['age_18_plus'] });
      expect((await harness.userinfo(`Bearer ${token}`)).body).toEqual(info);
      const claims = ['age_18_plus', 'identity_verified', 'country'] as const;
      await harness.admin.clients.update.mutate({ clientId: partner.clientId, claims: [...claims] });
    },
  );
  rule(
    '2.5 meta.claims_requested',
    'lists in meta.claims_requested every requested claim, in the requested order',
    async () =>
      expect((await read()).info.meta.claims_requested).toEqual(['country', 'age_18_plus', 'shoe_size']),
  );
  rule('2.5 meta.claims_resolved', 'lists in meta.claims_resolved the claims that have a value', async () =>
    expect((await read()).info.meta.claims_resolved).toEqual(['age_18_plus']),
  );
  rule('2.5 meta.claims_null', 'lists in meta.claims_null the claims whose value is null', async () =>
    expect((await read()).info.meta.claims_null).toEqual(['country']),
  );
  rule(
    '2.5 meta.claims_ignored',
    'lists in meta.claims_ignored the requested claims that do not exist',
    async () => expect((await read()).info.meta.claims_ignored).toEqual(['shoe_size']),
  );
});

describe('a revoke request', () => {
  const without = (name: string) => (as: 'form' | 'json') =>
    harness.revoke(partner, 'x', { [name]: undefined, as });

  rule('2.6 token', 'gets 400 invalid_request without token', () =>
    expectRequired(without('token'), 'token'),
  );
  rule(
    '2.6 token_type_hint',
    'gets 200 with the token_type_hint access_token, and 400 invalid_request with another one',
    async () => {
      expect(
        (await harness.revoke(partner, 'x', { token_type_hint: 'access_token', as: 'json' })).status,
      ).toBe(200);
      const other = await harness.revoke(partner, 'x', { token_type_hint: 'refresh_token' });
      expect(other).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    },
  );
  rule('2.6 client_id', 'gets 400 invalid_request without client_id', () =>
    expectRequired(without('client_id'), 'client_id'),
  );
  rule('2.6 client_secret', 'gets 400 invalid_request without client_secret', () =>
    expectRequired(without('client_secret'), 'client_secret'),
  );
});
