import { createHash } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenidPartner, openidStart, openidTokens } from '../../harness/openid-client.ts';
import { exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { createBrowser, passFlow } from '../../journey/browser.ts';
import { bearer, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;
beforeAll(async () => {
  oauth = await startOAuth();
  partner = await createOpenidPartner(oauth.server, {
    claims: ['age_18_plus', 'country', 'assurance_level'],
  });
});
afterAll(() => oauth.stop());

/** Verifies an ID token as a client does (OpenID Connect Core 3.1.3.7). */
function verify(idToken: string, { clientId }: TestPartner, algorithms = ['RS256']) {
  const { baseUrl: issuer } = oauth.server;
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  const currentDate = new Date(oauth.clock.now());
  return jwtVerify(idToken, keys, { issuer, audience: clientId, algorithms, typ: 'JWT', currentDate });
}

describe('the ID token', () => {
  it('has the registered claims and each resolved claim, and its sub is that of userinfo', async () => {
    const nonce = 'n-0S6_WzA2Mj';
    const { status, body, sessionId } = await openidTokens(oauth.server, partner, { nonce });
    expect([status, Object.keys(body)]).toEqual([
      200,
      ['access_token', 'token_type', 'expires_in', 'scope', 'id_token'],
    ]);
    const { payload, protectedHeader } = await verify(body.id_token, partner);
    expect(Object.keys(protectedHeader).toSorted()).toEqual(['alg', 'kid', 'typ']);
    const info = (await oauth.userinfo(bearer(body.access_token))).body as { sub: string };
    const now = Math.floor(oauth.clock.now() / 1000);
    const half = createHash('sha256').update(body.access_token).digest().subarray(0, 16);
    expect(payload).toEqual({
      ...{ iss: oauth.server.baseUrl, sub: info.sub, aud: partner.clientId, exp: now + 3600, iat: now },
      ...{ auth_time: now, nonce, at_hash: half.toString('base64url'), sid: sessionId },
      ...{ age_18_plus: true, country: expect.stringMatching(/^[A-Z]{2}$/) },
    });
  });

  it('leaves out claims without a value and an absent nonce, and has acr with assurance_level', async () => {
    const scope = 'age_18_plus openid country assurance_level';
    const { body } = await openidTokens(oauth.server, partner, { scope, person: 'unknown-country' });
    const { payload } = await verify(body.id_token, partner);
    expect(Object.keys(payload)).not.toContain('country');
    expect(Object.keys(payload)).not.toContain('nonce');
    const levels = ['basic', 'document', 'biometric'];
    expect(payload['acr']).toBe(levels[Number(payload['assurance_level']) - 1]);
    expect(body.scope).toBe('age_18_plus openid country assurance_level');
  });

  it('is signed with ES256 for a client that is set to it, and no endpoint takes an ID token as an access token', async () => {
    const own = await createOpenidPartner(oauth.server, { idTokenAlg: 'ES256' });
    const { body } = await openidTokens(oauth.server, own);
    await verify(body.id_token, own, ['ES256']);
    await expect(verify(body.id_token, own, ['RS256'])).rejects.toThrow();
    for (const token of [body.id_token, (await openidTokens(oauth.server, partner)).body.id_token])
      expect((await oauth.userinfo(bearer(token))).status).toBe(401);
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
  });

  it('is of a key that a rotation replaced until that key is retired as compromised', async () => {
    const { admin } = oauth.server;
    const { body } = await openidTokens(oauth.server, partner);
    const { replacedBy } = await admin.keyring.retire.mutate({ id: 'signing-rsa-1', compromised: true });
    expect(replacedBy).toBe('signing-rsa-2');
    await expect(verify(body.id_token, partner)).rejects.toThrow('no applicable key');
    const later = await openidTokens(oauth.server, partner);
    await verify(later.body.id_token, partner);
    // Access tokens have another key.
    expect((await oauth.userinfo(bearer(body.access_token))).status).toBe(200);
  });

  it('has the time of the authentication, not that of the exchange', async () => {
    const { url, codeVerifier } = openidStart(oauth.server, partner);
    const end = await passFlow(createBrowser(oauth.server.baseUrl), url, 'adult');
    const authenticatedAt = Math.floor(oauth.clock.now() / 1000);
    oauth.clock.advance(90_000);
    const code = end.searchParams.get('code') ?? '';
    const answer = await exchangeCode(oauth.server, partner, { code, codeVerifier });
    const { id_token } = (await answer.json()) as { id_token: string };
    const { payload } = await verify(id_token, partner);
    expect(payload).toMatchObject({ auth_time: authenticatedAt, iat: authenticatedAt + 90 });
  });
});

describe('the scope openid', () => {
  it('is in the scope of the response and never in the claims; unknown scopes are reported', async () => {
    const scope = 'openid profile age_18_plus';
    const { body } = await openidTokens(oauth.server, partner, { scope });
    expect(body.scope).toBe('openid age_18_plus');
    expect((await oauth.userinfo(bearer(body.access_token))).body).toMatchObject({
      claims: { age_18_plus: true },
      meta: {
        claims_requested: ['profile', 'age_18_plus'],
        claims_resolved: ['age_18_plus'],
        claims_null: [],
        claims_ignored: ['profile'],
      },
    });
  });

  it('asks for the default claims if the scope has none', async () => {
    const own = await createOpenidPartner(oauth.server, { defaultClaims: ['country'] });
    const { body } = await openidTokens(oauth.server, own, { scope: 'openid profile email' });
    expect(body.scope).toBe('openid country');
    const { payload } = await verify(body.id_token, own);
    expect(payload['country']).toMatch(/^[A-Z]{2}$/);
    const chosen = await openidTokens(oauth.server, own, { scope: 'openid age_18_plus' });
    expect(chosen.body.scope).toBe('openid age_18_plus');
  });

  it('is an unknown identifier for a client that does not speak OpenID Connect', async () => {
    const plain = await oauth.partner();
    const { body } = await openidTokens(oauth.server, plain, { nonce: 'x', prompt: 'none', max_age: 'x' });
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope']);
    expect(body.scope).toBe('age_18_plus country');
    expect((await oauth.userinfo(bearer(body.access_token))).body).toMatchObject({
      meta: { claims_ignored: ['openid'] },
    });
  });
});
