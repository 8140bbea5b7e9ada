import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, type TestPartner, tokenForm } from '../../harness/partner.ts';
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

describe('POST /api/oauth/token', () => {
  it('answers 200 to a valid code, with a bearer token and one charge', async () => {
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

  it('answers 200 to credentials in a Basic header, raw or form-encoded', async () => {
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

  it('answers 200 if the body has the same client_id as the Basic header', async () => {
    const { client_secret: _secret, ...fields } = tokenForm(partner, await oauth.verified(partner));
    const headers = basic(partner.clientId, partner.clientSecret);
    expect((await oauth.send('token', { headers, body: new URLSearchParams(fields) })).status).toBe(200);
  });

  it('ignores unknown parameters (RFC 6749 3.2)', async () => {
    const verified = await oauth.verified(partner);
    expect((await oauth.exchange(partner, verified, { resource: 'x', scope: 'country' })).status).toBe(200);
  });

  it('returns a signed JWT (RFC 9068) that the published keys verify', async () => {
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

describe('POST /api/oauth/token', () => {
  const refused = (description: unknown) => ({
    status: 400,
    error: 'invalid_request',
    error_description: description,
  });

  it.each(fieldNames)('answers 400 invalid_request if %s is repeated', async (name) => {
    const body = new URLSearchParams(form());
    body.append(name, body.get(name) ?? '');
    expect(await oauth.send('token', { body })).toMatchObject(refused(`${name} must be given once`));
  });

  it.each(fieldNames)('answers 400 invalid_request if %s is empty, as if it were missing', async (name) => {
    const answer = await oauth.exchange(partner, unknownCode, { [name]: '' });
    expect(answer).toMatchObject(refused(`${name} is required`));
  });

  it.each(fieldNames.slice(1))('answers 400 invalid_request if %s has 3,000 characters', async (name) => {
    const answer = await oauth.exchange(partner, unknownCode, { [name]: 'x'.repeat(3_000) });
    expect(answer).toMatchObject(refused(expect.stringMatching(new RegExp(`^${name}`))));
  });

  it.each([
    ['a number', 7],
    ['true', true],
    ['null', null],
    ['a list', ['a']],
    ['an object', { a: 1 }],
  ])('answers 400 invalid_request if the JSON value of any parameter is %s', async (_what, value) => {
    for (const name of fieldNames) {
      const answer = await answerOf(post(url, { ...form(), [name]: value }, 'json'));
      expect(answer).toMatchObject(refused(expect.stringMatching(new RegExp(`^${name}`))));
    }
  });

  it.each([
    ['is too short', 'v'.repeat(42)],
    ['is too long', 'v'.repeat(129)],
    ['has another character than permitted', `${'v'.repeat(42)}!`],
  ])('answers 400 invalid_request if the code_verifier %s (RFC 7636 4.1)', async (_, verifier) => {
    const answer = await oauth.exchange(partner, unknownCode, { code_verifier: verifier });
    expect(answer).toMatchObject(refused('code_verifier must be 43 to 128 unreserved characters'));
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=b', 'nonsense'])(
    'answers 400 invalid_request to the content type %s',
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
  ])('answers 400 invalid_request to %s', async (_, body, description) => {
    const headers = { 'content-type': 'application/json' };
    expect(await oauth.send('token', { headers, body })).toMatchObject(refused(description));
  });

  it('answers 400 invalid_request to a request without a body', async () => {
    expect(await oauth.send('token', {})).toMatchObject(
      refused('The request body must be a form or a JSON object'),
    );
  });

  it.each(['form', 'json'] as const)(
    'answers 400 invalid_request to a body of more than 64 KiB as %s',
    async (as) => {
      const answer = await answerOf(post(url, { ...form(), padding: 'x'.repeat(65_536) }, as));
      expect(answer).toMatchObject(refused('The request body is larger than 64 KiB'));
    },
  );

  it('answers 400 invalid_request to credentials in both header and body, even if they agree', async () => {
    const headers = basic(partner.clientId, partner.clientSecret);
    const both = refused(expect.stringMatching(/not in both/));
    expect(await oauth.send('token', { headers, body: new URLSearchParams(form()) })).toMatchObject(both);
    const { client_secret: _secret, ...fields } = form();
    const other = new URLSearchParams({ ...fields, client_id: 'cli_another' });
    expect(await oauth.send('token', { headers, body: other })).toMatchObject(both);
  });

  it('answers 400 invalid_request to parameters in the query (RFC 6749 3.2)', async () => {
    const query = new URLSearchParams(form()).toString();
    const answer = await answerOf(fetch(`${url}?${query}`, { method: 'POST', body: new URLSearchParams() }));
    expect(answer).toMatchObject(refused('grant_type is required'));
  });
});

describe('POST /api/oauth/token', () => {
  it.each(['client_credentials', 'refresh_token', 'AUTHORIZATION_CODE', 'authorization_code ', ' '])(
    'answers 400 unsupported_grant_type to the grant type "%s"',
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

describe('POST /api/oauth/token', () => {
  it('answers 500 "Internal server error" after a defect, without a charge; the code can be exchanged later', async () => {
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
