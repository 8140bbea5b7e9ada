import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestPartner, tokenForm } from '../../harness/partner.ts';
import { basic, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;
beforeAll(async () => {
  oauth = await startOAuth();
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
});
afterAll(() => oauth.stop());

const unknownCode = { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) };
/** An accepted request reaches the check of the code, which then answers `invalid_grant`. */
const understood = { status: 400, error: 'invalid_grant' };
const malformed = (description: unknown) => ({
  status: 400,
  error: 'invalid_request',
  error_description: description,
});
const form = (changed: Record<string, string> = {}) =>
  new URLSearchParams({ ...tokenForm(partner, unknownCode), ...changed });
const without = (body: URLSearchParams, ...names: string[]) => {
  for (const name of names) body.delete(name);
  return body;
};
const send = (body: URLSearchParams, headers: Record<string, string> = {}) =>
  oauth.send('token', { body, headers });

describe('an unknown grant_type in a token request', () => {
  const unsupported = { status: 400, error: 'unsupported_grant_type' };

  it('is refused with unsupported_grant_type if the request has no other parameters, as a form and as JSON', async () => {
    expect(await send(new URLSearchParams({ grant_type: 'client_credentials' }))).toMatchObject(unsupported);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ grant_type: 'refresh_token' });
    expect(await oauth.send('token', { headers, body })).toMatchObject(unsupported);
  });

  it.each([
    ['an unreadable Authorization header', { authorization: 'Basic !!!' }],
    ['a Basic header with a wrong secret', basic('cli_unknown', 'wrong')],
    ['an Authorization header of another scheme', { authorization: 'Bearer svc_test_x' }],
  ])('is the reported error, and not %s in the same request', async (_, headers) => {
    expect(await send(new URLSearchParams({ grant_type: 'password' }), headers)).toMatchObject(unsupported);
  });

  it('is the reported error, and not credentials in two places, a repeated parameter or a long value', async () => {
    const body = form({ grant_type: 'x'.repeat(3_000) });
    body.append('code', 'again');
    const headers = basic(partner.clientId, partner.clientSecret);
    expect(await send(body, headers)).toMatchObject(unsupported);
  });

  it('is distinguished from a missing, empty or repeated grant_type, which is invalid_request', async () => {
    const missing = malformed('grant_type is required');
    expect(await send(new URLSearchParams())).toMatchObject(missing);
    expect(await send(new URLSearchParams({ grant_type: '' }))).toMatchObject(missing);
    const repeated = new URLSearchParams('grant_type=password&grant_type=password');
    expect(await send(repeated)).toMatchObject(malformed('grant_type must be given once'));
  });
});

describe('the body of a token request', () => {
  it.each([
    ['unreadable', { authorization: 'Basic !!!' }],
    ['of another scheme', { authorization: 'Bearer svc_test_x' }],
  ])('is checked before the credentials if the Authorization header is %s', async (_, headers) => {
    const body = without(form(), 'client_id', 'client_secret', 'code_verifier');
    expect(await send(body, headers)).toMatchObject(malformed('code_verifier is required'));
    body.set('code_verifier', unknownCode.codeVerifier);
    expect(await send(body, headers)).toMatchObject({ status: 401, error: 'invalid_client' });
  });
});

describe('an Authorization header beside credentials in the body', () => {
  it.each([
    '',
    'Bearer svc_test_0123456789',
    'Bearer',
    'Digest username="x"',
    'Negotiate',
    'Basically dGVzdA==',
  ])('is ignored if it is "%s"', async (authorization) => {
    expect(await send(form(), { authorization })).toMatchObject(understood);
    const wrong = await send(form({ client_secret: 'wrong' }), { authorization });
    expect(wrong).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(wrong.headers.has('www-authenticate')).toBe(false);
    const { clientId: client_id, clientSecret: client_secret } = partner;
    const body = new URLSearchParams({ token: 'unknown', client_id, client_secret });
    expect((await oauth.send('revoke', { body, headers: { authorization } })).status).toBe(200);
  });

  it.each(['Basic', 'Basic !!!', 'basic'])(
    'causes invalid_request, as a second place for credentials, if it is "%s"',
    async (header) => {
      const answer = await send(form(), { authorization: header });
      expect(answer).toMatchObject(malformed(expect.stringMatching(/not in both/)));
    },
  );

  it('is ignored if it is empty, so that missing credentials in the body are reported', async () => {
    const body = without(form(), 'client_id', 'client_secret');
    expect(await send(body, { authorization: '' })).toMatchObject(malformed('client_id is required'));
  });
});

describe('a parameter without a value (RFC 6749 3.2)', () => {
  it('counts as absent, so that empty credentials in the body do not conflict with the header', async () => {
    const headers = basic(partner.clientId, partner.clientSecret);
    expect(await send(form({ client_id: '', client_secret: '' }), headers)).toMatchObject(understood);
  });

  it('counts as absent, so that an empty token_type_hint is ignored', async () => {
    const { clientId: client_id, clientSecret: client_secret } = partner;
    const fields = { token: 'unknown', token_type_hint: '', client_id, client_secret };
    expect((await oauth.send('revoke', { body: new URLSearchParams(fields) })).status).toBe(200);
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) };
    expect((await oauth.send('revoke', json)).status).toBe(200);
  });
});

describe('a JSON member that is null', () => {
  const json = (fields: Record<string, unknown>, headers: Record<string, string> = {}) => ({
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(fields),
  });

  it('counts as absent, so that a token_type_hint of null is ignored', async () => {
    const { clientId: client_id, clientSecret: client_secret } = partner;
    const fields = { token: 'unknown', token_type_hint: null, client_id, client_secret };
    expect((await oauth.send('revoke', json(fields))).status).toBe(200);
  });

  it('counts as absent, so that credentials of null do not conflict with the header', async () => {
    const headers = basic(partner.clientId, partner.clientSecret);
    const nothing = { client_id: null, client_secret: null };
    const fields = { ...tokenForm(partner, unknownCode), ...nothing };
    expect(await oauth.send('token', json(fields, headers))).toMatchObject(understood);
    expect((await oauth.send('revoke', json({ token: 'unknown', ...nothing }, headers))).status).toBe(200);
  });

  it('counts as absent, so that a required parameter is reported as missing', async () => {
    for (const name of Object.keys(tokenForm(partner, unknownCode))) {
      const fields = { ...tokenForm(partner, unknownCode), [name]: null };
      expect(await oauth.send('token', json(fields))).toMatchObject(malformed(`${name} is required`));
    }
  });
});

describe('a repeated parameter', () => {
  it('causes invalid_request even if its name is unknown; the error shows the name only if it is a plain word', async () => {
    const body = form();
    body.append('resource', 'one');
    expect(await send(body)).toMatchObject(understood);
    body.append('resource', 'two');
    expect(await send(body)).toMatchObject(malformed('resource must be given once'));
    const strange = form();
    for (const value of ['one', 'two']) strange.append('a "name"', value);
    expect(await send(strange)).toMatchObject(malformed('A parameter must be given once'));
  });
});
