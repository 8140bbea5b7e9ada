import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { post, type TestPartner } from '../../harness/partner.ts';
import { answerOf, basic, bearer, momentAt, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;
let url: string;
let hours = 0;

beforeAll(async () => {
  oauth = await startOAuth();
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
  url = `${oauth.server.baseUrl}/api/oauth/revoke`;
});
beforeEach(() => {
  hours += 2;
  oauth.clock.set(momentAt(hours * 60, 10));
});
afterAll(() => oauth.stop());

async function newToken(of = partner): Promise<string> {
  const { access_token: token } = await oauth.exchange(of, await oauth.verified(of));
  return token ?? '';
}

const statusOf = async (token: string) => (await oauth.userinfo(bearer(token))).status;
const fields = (token = 'eyJ.eyJ.eyJ') => ({
  token,
  client_id: partner.clientId,
  client_secret: partner.clientSecret,
});
const done = { status: 200, body: undefined };

describe('POST /api/oauth/revoke', () => {
  it('answers 200 with an empty body to a valid token: this token ends, other tokens stay valid, and no money moves', async () => {
    const [token, other] = [await newToken(), await newToken()];
    const before = await oauth.wallet(partner);
    const answer = await oauth.revoke(partner, token);
    expect(answer).toMatchObject(done);
    expect(answer.headers.get('content-length')).toBe('0');
    expect([await statusOf(token), await statusOf(other)]).toEqual([401, 200]);
    expect(await oauth.wallet(partner)).toEqual(before);
  });

  it('answers 200 with an empty body to JSON, to Basic credentials and to token_type_hint access_token; each token ends', async () => {
    const [one, two, three] = [await newToken(), await newToken(), await newToken()];
    await answerOf(post(url, fields(one), 'json'));
    const headers = basic(partner.clientId, partner.clientSecret);
    await oauth.send('revoke', { headers, body: new URLSearchParams({ token: two }) });
    await oauth.revoke(partner, three, { token_type_hint: 'access_token' });
    expect(await Promise.all([one, two, three].map(statusOf))).toEqual([401, 401, 401]);
  });

  it('answers 200 with an empty body to an unknown, malformed, expired or revoked token (RFC 7009 2.2)', async () => {
    const token = await newToken();
    await oauth.revoke(partner, token);
    for (const each of [token, 'x', 'eyJ.eyJ.eyJ', partner.apiKey]) {
      expect(await oauth.revoke(partner, each)).toMatchObject(done);
    }
    const expiring = await newToken();
    oauth.clock.advance(3_600_000);
    const revocations = oauth.server.db.collection('revocations');
    const before = await revocations.countDocuments();
    expect(await oauth.revoke(partner, expiring)).toMatchObject(done);
    expect(await revocations.countDocuments()).toBe(before);
  });

  it('answers 200 with an empty body to the token of another client, and this token stays valid', async () => {
    const other = await oauth.partner();
    const token = await newToken(other);
    expect(await oauth.revoke(partner, token)).toMatchObject(done);
    expect(await statusOf(token)).toBe(200);
    expect(await oauth.revoke(other, token)).toMatchObject(done);
    expect(await statusOf(token)).toBe(401);
  });

  it('answers 200 with an empty body to a second revocation, and the stored time of the first one does not change', async () => {
    const token = await newToken();
    const revokedAt = new Date(oauth.clock.now());
    await oauth.revoke(partner, token);
    oauth.clock.advance(5_000);
    await oauth.revoke(partner, token);
    const found = await oauth.server.db.collection('revocations').countDocuments({ at: revokedAt });
    expect(found).toBe(1);
  });
});

describe('a revocation', () => {
  it('is stored for 70 minutes, longer than its token can live', async () => {
    const token = await newToken();
    const revokedAt = new Date(oauth.clock.now());
    await oauth.revoke(partner, token);
    const kept = () => oauth.server.db.collection('revocations').find({ at: revokedAt }).toArray();
    expect(await kept()).toMatchObject([{ purgeAt: new Date(revokedAt.getTime() + 70 * 60_000) }]);
    oauth.clock.advance(70 * 60_000 + 1);
    await oauth.server.sweep();
    expect(await kept()).toEqual([]);
    expect(await statusOf(token)).toBe(401);
  });
});

describe('POST /api/oauth/revoke', () => {
  const refused = (description: unknown) => ({
    status: 400,
    error: 'invalid_request',
    error_description: description,
  });
  const names = ['token', 'client_id', 'client_secret'] as const;

  it.each(names)('answers 400 invalid_request to a missing, empty, repeated or numeric %s', async (name) => {
    const { [name]: _missing, ...others } = fields();
    expect(await answerOf(post(url, others))).toMatchObject(refused(`${name} is required`));
    expect(await answerOf(post(url, { ...fields(), [name]: '' }))).toMatchObject(
      refused(expect.stringMatching(new RegExp(`^${name}`))),
    );
    const body = new URLSearchParams(fields());
    body.append(name, 'x');
    expect(await oauth.send('revoke', { body })).toMatchObject(refused(`${name} must be given once`));
    expect(await answerOf(post(url, { ...fields(), [name]: 7 }, 'json'))).toMatchObject(
      refused(expect.stringMatching(new RegExp(`^${name}`))),
    );
  });

  it.each(['refresh_token', 'id_token', ' '])(
    'answers 400 invalid_request to the token_type_hint "%s"',
    async (hint) => {
      const token = await newToken();
      expect(await oauth.revoke(partner, token, { token_type_hint: hint })).toMatchObject(
        refused(expect.stringMatching(/^token_type_hint/)),
      );
      expect(await statusOf(token)).toBe(200);
    },
  );

  it('answers 400 invalid_request to malformed JSON, another content type, and an oversized body', async () => {
    const json = { 'content-type': 'application/json' };
    expect(await oauth.send('revoke', { headers: json, body: '{' })).toMatchObject(refused(/JSON/));
    const plain = { 'content-type': 'text/plain' };
    expect(await oauth.send('revoke', { headers: plain, body: 'token=x' })).toMatchObject(
      refused(expect.stringMatching(/^Content-Type/)),
    );
    expect(await oauth.revoke(partner, 'x'.repeat(70_000))).toMatchObject(
      refused('The request body is larger than 64 KiB'),
    );
  });

  it('answers 400 invalid_request to credentials in both header and body', async () => {
    const headers = basic(partner.clientId, partner.clientSecret);
    expect(await oauth.send('revoke', { headers, body: new URLSearchParams(fields()) })).toMatchObject(
      refused(expect.stringMatching(/not in both/)),
    );
  });
});

describe('POST /api/oauth/revoke', () => {
  it('answers 401 invalid_client to wrong credentials, and the token stays valid', async () => {
    const token = await newToken();
    const answer = await oauth.revoke(partner, token, { client_secret: 'svc_secret_wrong' });
    expect(answer).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(await statusOf(token)).toBe(200);
  });

  it('answers 401 invalid_client with WWW-Authenticate: Basic to wrong credentials in a Basic header', async () => {
    const headers = basic(partner.clientId, 'svc_secret_wrong');
    const answer = await oauth.send('revoke', { headers, body: new URLSearchParams({ token: 'x' }) });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });
});

describe('POST /api/oauth/revoke', () => {
  it('answers 403 client_inactive to a suspended partner, a disabled client and a revoked key', async () => {
    const { admin } = oauth.server;
    const other = await oauth.partner();
    const { partnerId, clientId, keyId } = other;
    const token = await newToken(other);
    const expectInactive = async () =>
      expect(await oauth.revoke(other, token)).toMatchObject({ status: 403, error: 'client_inactive' });

    await admin.partners.suspend.mutate({ partnerId });
    await expectInactive();
    await admin.partners.activate.mutate({ partnerId });
    await admin.clients.disable.mutate({ clientId });
    await expectInactive();
    await admin.clients.enable.mutate({ clientId });
    await admin.keys.revoke.mutate({ keyId });
    await expectInactive();
    expect(await statusOf(token)).toBe(200);
  });
});

describe('POST /api/oauth/revoke', () => {
  it('answers 429 at the limit of a client, which counts its requests to the token and revoke endpoints', async () => {
    const other = await oauth.partner({ client: { tokenRequestsPerMinute: 4 } });
    const token = await newToken(other);
    const exchange = () => oauth.exchange(other, { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) });
    await exchange();
    for (let n = 0; n < 2; n += 1) expect(await oauth.revoke(other, 'x')).toMatchObject(done);

    const refused = await oauth.revoke(other, token);
    expect(refused).toMatchObject({
      status: 429,
      error: 'rate_limited',
      error_description: 'Token endpoint rate limit exceeded',
    });
    expect(refused.headers.get('retry-after')).toBe('50');
    expect((await exchange()).status).toBe(429);
    expect(await statusOf(token)).toBe(200);

    oauth.clock.advance(50_000);
    expect(await oauth.revoke(other, token)).toMatchObject(done);
    expect(await statusOf(token)).toBe(401);
  });

  it('answers 429 in place of 401 after 20 wrong secrets, as the token endpoint does; the right secret still gets 200', async () => {
    const other = await oauth.partner();
    const wrong = { client_secret: 'svc_secret_wrong' };
    for (let n = 0; n < 20; n += 1) await oauth.revoke(other, 'x', wrong);
    expect((await oauth.revoke(other, 'x', wrong)).status).toBe(429);
    expect((await oauth.exchange(other, { code: 'x', codeVerifier: 'v'.repeat(43) }, wrong)).status).toBe(
      429,
    );
    expect(await oauth.revoke(other, 'x')).toMatchObject(done);
  });
});

describe('/api/oauth/revoke', () => {
  it.each(['GET', 'PUT', 'DELETE'])(
    'answers 405 with the header Allow: POST to the method %s',
    async (method) => {
      const answer = await answerOf(fetch(url, { method }));
      expect(answer).toMatchObject({ status: 405, error: 'invalid_request' });
      expect(answer.headers.get('allow')).toBe('POST');
    },
  );
});
