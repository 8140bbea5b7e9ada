import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, type TestPartner, tokenForm } from '../harness/partner.ts';
import { answerOf, basic, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;
let url: string;

beforeAll(async () => {
  oauth = await startOAuth();
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
  url = `${oauth.server.baseUrl}/api/oauth/token`;
});
afterAll(() => oauth.stop());

/** Any request that reaches the check of the code gets `invalid_grant`, which shows that it was accepted. */
const unknownCode = { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) };
const form = () => tokenForm(partner, unknownCode);
const fieldNames = [
  'grant_type',
  'code',
  'client_id',
  'client_secret',
  'redirect_uri',
  'code_verifier',
] as const;

describe('a 200 from POST /api/oauth/token', () => {
  it('is the answer to a valid code, with a bearer token and one charge', async () => {
    const before = await oauth.wallet(partner);
    const answer = await oauth.exchange(partner, await oauth.verified(partner));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'age_18_plus identity_verified',
    });
    expect(await oauth.wallet(partner)).toEqual({
      balance: before.balance - 50,
      entries: before.entries + 1,
    });
  });

  it('is the answer to the same fields in a JSON body', async () => {
    const fields = tokenForm(partner, await oauth.verified(partner));
    expect((await answerOf(post(url, fields, 'json'))).status).toBe(200);
  });

  it('accepts the credentials in a Basic header, raw or form-encoded', async () => {
    const encode = (text: string) =>
      [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
    const headers = [
      basic(partner.clientId, partner.clientSecret),
      basic(encode(partner.clientId), encode(partner.clientSecret)),
    ];
    for (const header of headers) {
      const {
        client_id: _id,
        client_secret: _secret,
        ...fields
      } = tokenForm(partner, await oauth.verified(partner));
      const answer = await oauth.send('token', { headers: header, body: new URLSearchParams(fields) });
      expect(answer.status).toBe(200);
    }
  });

  it('accepts a client_id in the body that equals the one in the Basic header', async () => {
    const { client_secret: _secret, ...fields } = tokenForm(partner, await oauth.verified(partner));
    const headers = basic(partner.clientId, partner.clientSecret);
    expect((await oauth.send('token', { headers, body: new URLSearchParams(fields) })).status).toBe(200);
  });

  it('ignores unknown parameters (RFC 6749 3.2)', async () => {
    const verified = await oauth.verified(partner);
    expect((await oauth.exchange(partner, verified, { resource: 'x', scope: 'country' })).status).toBe(200);
  });

  it('returns the known scope in the requested order, without unknown identifiers', async () => {
    const verified = await oauth.verified(partner, 'adult', 'identity_verified shoe_size age_18_plus');
    expect((await oauth.exchange(partner, verified)).scope).toBe('identity_verified age_18_plus');
  });

  it('contains a signed JWT (RFC 9068) that the published keys verify', async () => {
    const { access_token: token = '' } = await oauth.exchange(
      partner,
      await oauth.verified(partner, 'adult', 'country'),
    );
    const issuer = oauth.server.baseUrl;
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience: issuer,
      typ: 'at+jwt',
      currentDate: new Date(oauth.clock.now()),
    });
    const iat = Math.floor(oauth.clock.now() / 1000);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: issuer,
      aud: issuer,
      sub: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      client_id: partner.clientId,
      scope: 'country',
      iat,
      exp: iat + 3600,
      sid: expect.stringMatching(/^ses_\w{22}$/),
      jti: expect.stringMatching(/^txn_/),
    });
  });
});

describe('a 400 invalid_request from POST /api/oauth/token', () => {
  const refused = (description: unknown) => ({
    status: 400,
    error: 'invalid_request',
    error_description: description,
  });

  it.each(fieldNames)('refuses a missing %s', async (name) => {
    const answer = await oauth.exchange(partner, unknownCode, { [name]: undefined });
    expect(answer).toMatchObject(refused(`${name} is required`));
  });

  it.each(fieldNames)('refuses a repeated %s', async (name) => {
    const body = new URLSearchParams(form());
    body.append(name, body.get(name) ?? '');
    expect(await oauth.send('token', { body })).toMatchObject(refused(`${name} must be given once`));
  });

  it.each(fieldNames)('refuses an empty %s as missing', async (name) => {
    const answer = await oauth.exchange(partner, unknownCode, { [name]: '' });
    expect(answer).toMatchObject(refused(`${name} is required`));
  });

  it.each(fieldNames.slice(1))('refuses a %s of 3,000 characters', async (name) => {
    const answer = await oauth.exchange(partner, unknownCode, { [name]: 'x'.repeat(3_000) });
    expect(answer).toMatchObject(refused(expect.stringMatching(new RegExp(`^${name}`))));
  });

  it.each([
    ['a number', 7],
    ['true', true],
    ['null', null],
    ['a list', ['a']],
    ['an object', { a: 1 }],
  ])('refuses %s as the JSON value of any parameter', async (_what, value) => {
    for (const name of fieldNames) {
      const answer = await answerOf(post(url, { ...form(), [name]: value }, 'json'));
      expect(answer).toMatchObject(refused(expect.stringMatching(new RegExp(`^${name}`))));
    }
  });

  it.each([
    ['too short', 'v'.repeat(42)],
    ['too long', 'v'.repeat(129)],
    ['of other characters', `${'v'.repeat(42)}!`],
  ])('refuses a code_verifier that is %s (RFC 7636 4.1)', async (_, verifier) => {
    const answer = await oauth.exchange(partner, unknownCode, { code_verifier: verifier });
    expect(answer).toMatchObject(refused('code_verifier must be 43 to 128 unreserved characters'));
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=b', 'nonsense'])(
    'refuses the content type %s',
    async (type) => {
      const body = new URLSearchParams(form()).toString();
      expect(await oauth.send('token', { headers: { 'content-type': type }, body })).toMatchObject(
        refused('Content-Type must be application/json or application/x-www-form-urlencoded'),
      );
    },
  );

  it.each([
    ['malformed JSON', '{"grant_type":', 'The request body is not valid JSON'],
    ['a JSON object with its fields in __proto__', '{"__proto__":{"code":"x"}}', 'grant_type is required'],
    ['an empty JSON body', '', 'The request body is empty'],
    ['a JSON list', '[]', 'The request body must be a form or a JSON object'],
    ['a JSON text', '"code"', 'The request body must be a form or a JSON object'],
    ['the JSON value null', 'null', 'The request body must be a form or a JSON object'],
  ])('refuses %s', async (_, body, description) => {
    const headers = { 'content-type': 'application/json' };
    expect(await oauth.send('token', { headers, body })).toMatchObject(refused(description));
  });

  it('refuses a request without a body', async () => {
    expect(await oauth.send('token', {})).toMatchObject(
      refused('The request body must be a form or a JSON object'),
    );
  });

  it.each(['form', 'json'] as const)('refuses a body of more than 64 KiB as %s', async (as) => {
    const answer = await answerOf(post(url, { ...form(), padding: 'x'.repeat(65_536) }, as));
    expect(answer).toMatchObject(refused('The request body is larger than 64 KiB'));
  });

  it('refuses credentials in both header and body, even if they agree', async () => {
    const headers = basic(partner.clientId, partner.clientSecret);
    const both = refused(expect.stringMatching(/not in both/));
    expect(await oauth.send('token', { headers, body: new URLSearchParams(form()) })).toMatchObject(both);
    const { client_secret: _secret, ...fields } = form();
    const other = new URLSearchParams({ ...fields, client_id: 'cli_another' });
    expect(await oauth.send('token', { headers, body: other })).toMatchObject(both);
  });

  it('refuses parameters in the query (RFC 6749 3.2)', async () => {
    const query = new URLSearchParams(form()).toString();
    const answer = await answerOf(fetch(`${url}?${query}`, { method: 'POST', body: new URLSearchParams() }));
    expect(answer).toMatchObject(refused('grant_type is required'));
  });
});

describe('a 400 unsupported_grant_type from POST /api/oauth/token', () => {
  it.each(['client_credentials', 'refresh_token', 'AUTHORIZATION_CODE', 'authorization_code ', ' '])(
    'refuses the grant type "%s"',
    async (grantType) => {
      const answer = await oauth.exchange(partner, unknownCode, { grant_type: grantType });
      expect(answer).toMatchObject({ status: 400, error: 'unsupported_grant_type' });
    },
  );
});

describe('the token endpoint', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
    'answers 405 with the header Allow: POST to the method %s',
    async (method) => {
      const answer = await answerOf(fetch(url, { method }));
      expect(answer).toMatchObject({ status: 405, error: 'invalid_request' });
      expect(answer.headers.get('allow')).toBe('POST');
    },
  );

  it.each(['/tokens', '/token/', '/token/x', '/%ZZ'])(
    'answers 404 in the OAuth format to the path /api/oauth%s',
    async (path) => {
      const answer = await answerOf(fetch(`${oauth.server.baseUrl}/api/oauth${path}`, { method: 'POST' }));
      expect(answer).toMatchObject({ status: 404, error: 'invalid_request' });
    },
  );
});

describe('a 500 server_error from POST /api/oauth/token', () => {
  it('says only "Internal server error" after a defect in the service, without a charge; the code can be exchanged later', async () => {
    const verified = await oauth.verified(partner);
    const before = await oauth.wallet(partner);
    const sessions = oauth.server.db.collection('sessions');
    await sessions.updateMany({}, [{ $set: { kept: '$scope', scope: 7 } }]);
    const answer = await oauth.exchange(partner, verified);
    await sessions.updateMany({}, [{ $set: { scope: '$kept' } }]);

    expect(answer).toMatchObject({
      status: 500,
      error: 'server_error',
      error_description: 'Internal server error',
    });
    expect(await oauth.wallet(partner)).toEqual(before);
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });
});
