import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretPrefixes } from '../../contracts/identifiers.ts';
import { randomId, randomSecret } from '../../server/platform/ids.ts';
import { describeMistake, nameKind } from '../../server/platform/keys/credential-kinds.ts';
import { fields, type Shop } from '../api/storefront/shop.ts';
import { type Code, type TestPartner, tokenForm } from '../harness/partner.ts';
import { adminToken } from '../harness/server.ts';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
let token: string;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner();
  shop = await harness.shop();
  token = await harness.token(partner);
});
afterAll(() => harness.stop());

const someCode: Code = { code: 'svc_code_x', codeVerifier: 'v'.repeat(43) };
const oauth = (status: number, error: string, description: string) => ({
  status,
  body: { error, error_description: description },
});
const general = (status: number, error: string) => ({ status, body: { success: false, error } });

describe('the kind of a credential', () => {
  it('is recognised by its prefix, and named without the rest of the credential', () => {
    for (const prefix of Object.values(secretPrefixes)) {
      fc.assert(
        fc.property(fc.stringMatching(/^[0-9A-Za-z]{8,50}$/), (rest) => {
          const named = nameKind(prefix + rest) ?? '';
          expect(named).toContain(`(${prefix}...)`);
          expect(named).not.toContain(rest);
          // RFC 6750 3 allows these characters in a challenge.
          expect(named).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
        }),
      );
    }
  });

  it('is not named if the credential has the expected kind or an unknown prefix', () => {
    expect(describeMistake('code', randomSecret('code'), 'code')).toBeUndefined();
    expect(describeMistake('key', randomSecret('liveKey'), 'apiKey')).toBeUndefined();
    expect(describeMistake('client_id', randomId('client'), 'clientId')).toBeUndefined();
    expect(describeMistake('code', 'x', 'code')).toBeUndefined();
    expect(describeMistake('code', '', 'code')).toBeUndefined();
  });
});

describe('the error for a credential that was copied badly', () => {
  const checksum = 'fails its checksum: it is mistyped or cut';

  it('says that there is white space, or that the checksum fails, without the credential', () => {
    for (const [expected, text] of [
      ['clientSecret', randomSecret('clientSecret')],
      ['apiKey', randomSecret('testKey')],
      ['code', randomSecret('code')],
    ] as const) {
      const mistake = (changed: string) => describeMistake('it', changed, expected);
      for (const space of [' ', '\n', '\t', '\u00a0', '\ufeff']) {
        expect(mistake(text + space)).toBe('it has white space at its ends');
        expect(mistake(space + text)).toBe('it has white space at its ends');
      }
      expect(mistake(`${text.slice(0, 20)} ${text.slice(20)}`)).toBe('it has white space in it');
      const other = text.at(-1) === 'a' ? 'b' : 'a';
      for (const wrong of [text.slice(0, -1), `${text}a`, text.slice(0, -1) + other])
        expect(mistake(wrong)).toBe(`it ${checksum}`);
    }
  });

  it('is sent for a client_id, a client_secret and a code; a right secret of another client gets no hint', async () => {
    const invalidClient = (description: string) => oauth(401, 'invalid_client', description);
    const { clientId, clientSecret } = partner;
    const exchange = (changes: Record<string, string>) => harness.exchange(partner, someCode, changes);
    expect(await exchange({ client_secret: `${clientSecret}\n` })).toMatchObject(
      invalidClient('client_secret has white space at its ends'),
    );
    expect(await exchange({ client_secret: clientSecret.slice(0, -1) })).toMatchObject(
      invalidClient(`client_secret ${checksum}`),
    );
    expect(await exchange({ client_id: ` ${clientId}` })).toMatchObject(
      invalidClient('client_id has white space at its ends'),
    );
    const code = await exchange({ code: ` ${randomSecret('code')}` });
    expect(code.body).toMatchObject({ error_description: 'code has white space at its ends' });
    const of = await exchange({ client_secret: randomSecret('clientSecret') });
    const unknown = await exchange({ client_id: randomId('client') });
    expect(of).toMatchObject({ status: unknown.status, body: unknown.body });
  });

  it('has the text of the contract at the session query, and the hint only in its challenge', async () => {
    const answer = await harness.session('ses_1', `Bearer ${partner.apiKey.slice(0, -1)}`);
    expect(answer).toMatchObject(general(401, 'Invalid or inactive API key'));
    expect(answer.headers.get('www-authenticate')).toContain(`The bearer token ${checksum}`);
  });
});

describe('the error for a credential of the wrong kind', () => {
  const invalidClient = (description: string) => oauth(401, 'invalid_client', description);

  it('names its kind in the 401 for a wrong client_id or client_secret', async () => {
    const notSecret = 'not a client secret (svc_secret_...)';
    const withKey = { client_secret: partner.apiKey };
    const key = invalidClient(`client_secret is an API key (svc_test_...), ${notSecret}`);
    expect(await harness.exchange(partner, someCode, withKey)).toMatchObject(key);
    expect(await harness.revoke(partner, 'x', withKey)).toMatchObject(key);
    const webhook = await harness.exchange(partner, someCode, { client_secret: 'whsec_x' });
    expect(webhook).toMatchObject(
      invalidClient(`client_secret is a webhook signing secret (whsec_...), ${notSecret}`),
    );
    const notId = 'not a client id (cli_...)';
    const id = await harness.exchange(partner, someCode, { client_id: partner.keyId });
    expect(id).toMatchObject(invalidClient(`client_id is the id of an API key (key_...), ${notId}`));
    const swapped = { client_id: partner.clientSecret, client_secret: partner.clientId };
    expect(await harness.exchange(partner, someCode, swapped)).toMatchObject(
      invalidClient(`client_id is a client secret (svc_secret_...), ${notId}`),
    );
    const wrong = await harness.exchange(partner, someCode, { client_secret: 'x' });
    expect(wrong).toMatchObject(invalidClient('Wrong client_id or client_secret'));
  });

  it('names its kind if it was sent as a Bearer token to the token endpoint', async () => {
    const { client_id: _id, client_secret: _secret, ...form } = tokenForm(partner, someCode);
    const body = new URLSearchParams(form);
    const headers = { authorization: `Bearer ${partner.apiKey}` };
    const answer = await fetch(`${harness.baseUrl}/api/oauth/token`, { method: 'POST', headers, body });
    expect(await answer.json()).toEqual({
      error: 'invalid_client',
      error_description:
        'The Authorization header is not of the form Basic base64(client_id:client_secret): it has an API key (svc_test_...)',
    });
  });

  it.each([
    ['without a secret', (id: string) => `${id}:`],
    ['without an id', () => ':x'],
    ['without both', () => ':'],
    ['with a secret that is too long', (id: string) => `${id}:${'x'.repeat(257)}`],
    ['with an id that is too long', () => `${'x'.repeat(129)}:x`],
  ])('gets 401 with a challenge in a Basic header %s, at both endpoints', async (_what, credentials) => {
    const authorization = `Basic ${Buffer.from(credentials(partner.clientId)).toString('base64')}`;
    const { client_id: _id, client_secret: _secret, ...form } = tokenForm(partner, someCode);
    for (const [path, fields] of [
      ['token', form],
      ['revoke', { token: 'x' }],
    ] as const) {
      const body = new URLSearchParams(fields);
      const init = { method: 'POST', headers: { authorization }, body };
      const { status, headers } = await fetch(`${harness.baseUrl}/api/oauth/${path}`, init);
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic realm="svc", charset="UTF-8"']);
    }
  });

  it('names its kind for a wrong code: 400 at the token endpoint, 404 at the storefront', async () => {
    const not = 'not an authorization code (svc_code_...)';
    const code = (text: string) => harness.exchange(partner, { ...someCode, code: text });
    const jwt = `code is an access token (eyJ...), ${not}`;
    expect(await code(token.slice(0, 256))).toMatchObject(oauth(400, 'invalid_grant', jwt));
    expect(await code(partner.apiKey)).toMatchObject(
      oauth(400, 'invalid_grant', `code is an API key (svc_test_...), ${not}`),
    );
    const unknown = oauth(400, 'invalid_grant', 'Unknown authorization code for this client');
    expect(await code(randomSecret('code'))).toMatchObject(unknown);
    const sold = await harness.storefront(shop, fields(shop.integrationSecret));
    expect(sold).toMatchObject(general(404, `code is an integration secret (intsec_...), ${not}`));
    expect(await harness.storefront(shop, fields(randomSecret('code')))).toMatchObject(
      general(404, 'Authorization code not found'),
    );
  });

  it('names its kind in the 401 of the storefront for a wrong integration id or signature', async () => {
    const send = (headers: Record<string, string>) => harness.storefront(shop, fields('svc_code_x'), headers);
    expect(await send({ 'x-svc-integration-id': shop.clientId })).toMatchObject(
      general(
        401,
        'Invalid signature: X-SVC-Integration-Id is a client id (cli_...), not an integration id (int_...)',
      ),
    );
    expect(await send({ 'x-svc-signature': shop.integrationSecret })).toMatchObject(
      general(
        401,
        'Invalid signature or missing signing headers: x-svc-signature must be sha256= and 64 lowercase hex digits, and is an integration secret (intsec_...)',
      ),
    );
  });

  it('names its kind for a wrong API key in the challenge and, at checkbox, in the body', async () => {
    const named =
      'The bearer token is an access token (eyJ...), not an API key (svc_test_... or svc_live_...)';
    const challenge = `Bearer realm="svc", error="invalid_token", error_description="${named}"`;
    const query = await harness.session('ses_x', `Bearer ${token}`);
    expect(query).toMatchObject(general(401, 'Invalid or inactive API key'));
    expect(query.headers.get('www-authenticate')).toBe(challenge);
    const resolve = await harness.checkbox({ ...partner, apiKey: token }, {}, 'one');
    expect(resolve).toMatchObject(general(401, named));
    expect(resolve.headers.get('www-authenticate')).toBe(challenge);
    const none = await harness.session('ses_x', undefined);
    expect(none).toMatchObject(general(401, 'Missing API key. Use Authorization: Bearer {key}'));
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
  });

  it('names its kind in the 400 of /verify/start for a wrong client_id', async () => {
    const not = 'not a client id (cli_...)';
    const key = await harness.start({ ...partner, clientId: partner.keyId });
    expect(key).toMatchObject(general(400, `client_id is the id of an API key (key_...), ${not}`));
    const secret = await harness.start({ ...partner, clientId: partner.clientSecret });
    expect(secret).toMatchObject(general(400, `client_id is a client secret (svc_secret_...), ${not}`));
  });

  it('names its kind if sent as an operator token, but no kind for an unknown token', async () => {
    const { as } = harness.server;
    await expect(as(partner.apiKey).operators.whoami.query()).rejects.toThrow(
      'The bearer token is an API key (svc_test_...), not an operator token (svc_admin_...)',
    );
    await expect(as(`${adminToken}x`).operators.whoami.query()).rejects.toThrow(
      /^Missing, unknown or revoked/,
    );
  });
});
