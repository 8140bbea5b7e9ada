import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Keyring, loadKeyring } from '../../../server/platform/keys/keyring.ts';
import { createSealing } from '../../../server/platform/keys/sealing.ts';
import type { TestPartner } from '../../harness/partner.ts';
import { bearer, type OAuthServer, startOAuth } from './oauth-server.ts';

const masterKey = new Uint8Array(32).fill(7);
let oauth: OAuthServer;
let partner: TestPartner;
let keyring: Keyring;
let issuer: string;
/** The payload of an issued token, from which a forger would start. */
let payload: Record<string, unknown>;

beforeAll(async () => {
  oauth = await startOAuth({ SVC_MASTER_KEY: Buffer.from(masterKey).toString('base64') });
  issuer = oauth.server.baseUrl;
  keyring = await loadKeyring(oauth.server.db, createSealing([masterKey]));
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
  const { access_token: token = '' } = await oauth.exchange(partner, await oauth.verified(partner));
  payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
});
afterAll(() => oauth.stop());

const header = (): JWTHeaderParameters => ({ alg: 'ES256', typ: 'at+jwt', kid: keyring.signing.kid });

/** Signs with the service's own key. */
const sign = (claims: Record<string, unknown>, headers: Partial<JWTHeaderParameters> = {}) =>
  new SignJWT(claims).setProtectedHeader({ ...header(), ...headers }).sign(keyring.signing.privateKey);

const without = (name: string) =>
  Object.fromEntries(Object.entries(payload).filter(([claim]) => claim !== name));

async function expectRefused(token: string): Promise<void> {
  expect(await oauth.userinfo(bearer(token))).toMatchObject({ status: 401, error: 'invalid_token' });
  expect(await oauth.revoke(partner, token)).toMatchObject({ status: 200, body: undefined });
  expect((await oauth.userinfo(bearer(await sign(payload)))).status).toBe(200);
}

describe('a forged access token', () => {
  it("is accepted if this test signs exactly the payload of an issued token with the service's key", async () => {
    expect((await oauth.userinfo(bearer(await sign(payload)))).status).toBe(200);
  });

  it('gets 401 with the algorithm none, in any letter case', async () => {
    const unsecured = new UnsecuredJWT(payload).encode();
    const [, body] = unsecured.split('.');
    await expectRefused(unsecured);
    for (const alg of ['none', 'None', 'NONE']) {
      const head = Buffer.from(JSON.stringify({ ...header(), alg })).toString('base64url');
      await expectRefused(`${head}.${body}.`);
    }
  });

  it('gets 401 with HS256 keyed by the public key', async () => {
    const [jwk] = keyring.publicKeys;
    for (const secret of [JSON.stringify(jwk), jwk?.x ?? '', JSON.stringify({ keys: keyring.publicKeys })]) {
      const signed = new SignJWT(payload).setProtectedHeader({ ...header(), alg: 'HS256' });
      await expectRefused(await signed.sign(new TextEncoder().encode(secret.padEnd(32, '='))));
    }
  });

  it("gets 401 if another key signed it: with our kid, another kid, no kid, or a 'jwk' in the header", async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const heads = [
      header(),
      { ...header(), kid: 'another' },
      { alg: 'ES256', typ: 'at+jwt' },
      { ...header(), jwk: await exportJWK(publicKey) },
    ];
    for (const head of heads)
      await expectRefused(await new SignJWT(payload).setProtectedHeader(head).sign(privateKey));
  });

  it('gets 401 with an unknown kid, even if the key of the service signed it', async () => {
    await expectRefused(await sign(payload, { kid: 'another' }));
  });

  it.each([
    ['with the aud of another service', 'aud', 'https://elsewhere.example'],
    ['without aud', 'aud', undefined],
    ['with the iss of another service', 'iss', 'https://elsewhere.example'],
    ['without iss', 'iss', undefined],
    ['without exp', 'exp', undefined],
    ['with an exp in the past', 'exp', 1],
    ['with a text as exp', 'exp', 'tomorrow'],
    ['with an nbf in the future', 'nbf', 9_999_999_999],
    ['without jti', 'jti', undefined],
    ['with the jti of no charge', 'jti', 'txn_0000000000000000000000'],
    ['with a database operator as jti', 'jti', { $gt: '' }],
    ['without client_id', 'client_id', undefined],
  ])('gets 401 %s, even if the key of the service signed it', async (_what, claim, value) => {
    const claims = value === undefined ? without(claim) : { ...payload, [claim]: value };
    await expectRefused(await sign(claims));
  });

  it.each([
    ['the typ JWT', 'JWT'],
    ['the typ jwt', 'jwt'],
    ['no typ', undefined],
  ])('gets 401 with %s in its header (RFC 9068 4)', async (_what, typ) => {
    const { typ: _typ, ...head } = header();
    const signed = new SignJWT(payload).setProtectedHeader(typ === undefined ? head : { ...head, typ });
    await expectRefused(await signed.sign(keyring.signing.privateKey));
  });

  it('gets 401 with an altered payload or a cut signature', async () => {
    const [head, , signature] = (await sign(payload)).split('.');
    const altered = Buffer.from(JSON.stringify({ ...payload, sub: 'another' })).toString('base64url');
    await expectRefused(`${head}.${altered}.${signature}`);
    await expectRefused((await sign(payload)).slice(0, -4));
  });

  it('gets 401 if its iss and aud have an extra slash, even if the key of the service signed it', async () => {
    expect(issuer).toMatch(/^http:\/\/localhost/);
    await expectRefused(await sign({ ...payload, iss: `${issuer}/`, aud: `${issuer}/` }));
  });

  it('cannot be signed with a key from the JWKS endpoint, because these keys are public keys only', async () => {
    const jwks = (await (await fetch(`${issuer}/.well-known/jwks.json`)).json()) as { keys: JWK[] };
    for (const jwk of jwks.keys) {
      const { alg = '' } = jwk;
      const signed = new SignJWT(payload).setProtectedHeader({ ...header(), alg });
      await expect(signed.sign(await importJWK(jwk, alg))).rejects.toThrow();
    }
  });
});
