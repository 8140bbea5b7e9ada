import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UserinfoResponse } from '../../../contracts/oauth.ts';
import type { TestPartner } from '../../harness/partner.ts';
import { answerOf, bearer, momentAt, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let partner: TestPartner;
let hours = 0;

beforeAll(async () => {
  oauth = await startOAuth();
  partner = await oauth.partner({ client: { tokenRequestsPerMinute: 100_000 } });
});
beforeEach(() => {
  hours += 2;
  oauth.clock.set(momentAt(hours * 60, 10));
});
afterAll(() => oauth.stop());

async function newToken(person = 'adult', scope?: string, of = partner): Promise<string> {
  const { access_token: token } = await oauth.exchange(of, await oauth.verified(of, person, scope));
  return token ?? '';
}

async function claimsOf(token: string): Promise<UserinfoResponse> {
  const answer = await oauth.userinfo(bearer(token));
  expect(answer.status).toBe(200);
  return UserinfoResponse.parse(answer.body);
}

const invalid = { status: 401, error: 'invalid_token' };

describe('GET /api/oauth/userinfo', () => {
  it('answers 200 with sub, evaluated_at, the requested claims and meta', async () => {
    const at = new Date(oauth.clock.now()).toISOString();
    expect(await claimsOf(await newToken())).toEqual({
      sub: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      evaluated_at: at,
      claims: { age_18_plus: true, identity_verified: true },
      meta: {
        claims_requested: ['age_18_plus', 'identity_verified'],
        claims_resolved: ['age_18_plus', 'identity_verified'],
        claims_null: [],
        claims_ignored: [],
      },
    });
  });

  it('divides the requested claims in their order into resolved, null and ignored ones in meta', async () => {
    const scope = 'shoe_size country age_18_plus __proto__ identity_verified country';
    const { claims, meta } = await claimsOf(await newToken('unknown-country', scope));
    expect(claims).toEqual({ country: null, age_18_plus: true, identity_verified: true });
    expect(meta).toEqual({
      claims_requested: ['shoe_size', 'country', 'age_18_plus', '__proto__', 'identity_verified'],
      claims_resolved: ['age_18_plus', 'identity_verified'],
      claims_null: ['country'],
      claims_ignored: ['shoe_size', '__proto__'],
    });
    const parts = [...meta.claims_resolved, ...meta.claims_null, ...meta.claims_ignored];
    expect(parts.toSorted()).toEqual(meta.claims_requested.toSorted());
    expect(new Set(parts).size).toBe(parts.length);
  });

  it('returns a claim with the value false, and does not leave it out', async () => {
    expect((await claimsOf(await newToken('teen'))).claims).toEqual({
      age_18_plus: false,
      identity_verified: true,
    });
  });

  it('returns the same answer 30 minutes later, even if the claims of the user or of the client have changed', async () => {
    const { admin, db } = oauth.server;
    const token = await newToken('adult', 'country age_18_plus');
    const first = await claimsOf(token);
    const { clientId } = partner;

    oauth.clock.advance(1_800_000);
    await db.collection('users').updateMany({}, { $set: { 'claims.country.value': 'FR' } });
    await admin.clients.update.mutate({ clientId, claims: ['identity_verified'] });
    const later = await claimsOf(token);
    await admin.clients.update.mutate({ clientId, claims: ['age_18_plus', 'identity_verified', 'country'] });
    expect(later).toEqual(first);
  });

  it('does not change the balance of the wallet', async () => {
    const token = await newToken();
    const before = await oauth.wallet(partner);
    for (let n = 0; n < 5; n += 1) await claimsOf(token);
    expect(await oauth.wallet(partner)).toEqual(before);
  });

  it('accepts the scheme in any letter case (RFC 9110 11.1)', async () => {
    const token = await newToken();
    for (const scheme of ['bearer', 'BEARER']) {
      expect((await oauth.userinfo({ authorization: `${scheme} ${token}` })).status).toBe(200);
    }
  });
});

describe('the sub of userinfo', () => {
  it('is the same in all sessions of a user, and differs between users', async () => {
    const { sub } = await claimsOf(await newToken());
    expect((await claimsOf(await newToken())).sub).toBe(sub);
    expect((await claimsOf(await newToken('teen'))).sub).not.toBe(sub);
    expect((await claimsOf(await newToken('new-adult'))).sub).not.toBe(sub);
  });

  it('differs between partners for the same sandbox user', async () => {
    const other = await oauth.partner();
    const theirs = await claimsOf(await newToken('adult', undefined, other));
    expect(theirs.sub).not.toBe((await claimsOf(await newToken())).sub);
  });
});

describe('GET /api/oauth/userinfo', () => {
  const [noHeader, noForm, unknown] = [
    'No Authorization header: send Authorization: Bearer {access token}',
    'The Authorization header is not of the form Bearer {access token}',
    'The access token is unknown: this service has not issued it, or what it stood for was removed',
  ];
  const refused = (description: unknown) => ({ ...invalid, error_description: description });
  const challenge = (description: string) =>
    `Bearer realm="svc", error="invalid_token", error_description="${description}"`;

  async function expectRefusal(authorization: string, description: string): Promise<void> {
    const answer = await oauth.userinfo({ authorization });
    expect(answer).toMatchObject(refused(description));
    expect(answer.headers.get('www-authenticate')).toBe(challenge(description));
  }

  it.each([
    ['a request without an Authorization header', {}, noHeader],
    ['an empty header', { authorization: '' }, noHeader],
    ['another scheme', { authorization: 'Basic eDp5' }, noForm],
    ['a token without a scheme', { authorization: 'eyJ.eyJ.eyJ' }, noForm],
  ])(
    'answers 401 invalid_token to %s, with a challenge that names no error',
    async (_, headers, description) => {
      const answer = await oauth.userinfo(headers as Record<string, string>);
      expect(answer).toMatchObject(refused(description));
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
    },
  );

  it.each([
    ['a header without a token', 'Bearer', noForm],
    ['a header with two tokens', 'Bearer a b', noForm],
    ['text that is no JWT', 'Bearer x', unknown],
    ['a JWT with malformed parts', 'Bearer a.b.c', unknown],
    ['a JWT with an empty signature', 'Bearer eyJ.eyJ.', unknown],
    ['a JWT with empty parts', 'Bearer ..', unknown],
    ['a token of 8,000 characters', `Bearer ${'x'.repeat(8_000)}`, unknown],
  ])(
    'answers 401 to %s, and names the mistake in body and challenge (RFC 6750 3)',
    async (_, authorization, description) => {
      await expectRefusal(authorization, description);
    },
  );

  it('answers 401 to a credential of another kind, and names the kind', async () => {
    const not = 'not an access token (eyJ...)';
    const { apiKey, clientSecret, clientId } = partner;
    await expectRefusal(`Bearer ${apiKey}`, `The bearer token is an API key (svc_test_...), ${not}`);
    const secret = `The bearer token is a client secret (svc_secret_...), ${not}`;
    await expectRefusal(`Bearer ${clientSecret}`, secret);
    await expectRefusal(`Bearer ${clientId}`, `The bearer token is a client id (cli_...), ${not}`);
    const { code } = await oauth.verified(partner);
    await expectRefusal(`Bearer ${code}`, `The bearer token is an authorization code (svc_code_...), ${not}`);
  });

  it('answers 401 invalid_token to a valid token in the query, because only the header is read', async () => {
    const token = await newToken();
    expect(await oauth.userinfo({}, `?access_token=${token}`)).toMatchObject(refused(noHeader));
  });

  it('answers 401 invalid_token to a token from its expiry on, and names the time of expiry', async () => {
    const token = await newToken();
    const at = new Date(oauth.clock.now() + 3_600_000).toISOString();
    oauth.clock.advance(3_599_999);
    await claimsOf(token);
    oauth.clock.advance(1);
    await expectRefusal(`Bearer ${token}`, `The access token expired at ${at}`);
  });

  it('answers 401 invalid_token to a revoked token, and names the time of its first revocation', async () => {
    const token = await newToken();
    await claimsOf(token);
    const at = new Date(oauth.clock.now()).toISOString();
    await oauth.revoke(partner, token);
    oauth.clock.advance(1_000);
    await oauth.revoke(partner, token);
    await expectRefusal(`Bearer ${token}`, `The access token was revoked at ${at}`);
  });

  it('answers 401 with an unknown, not an expired token, if an expired payload replaced the signed one', async () => {
    const [head, , signature] = (await newToken()).split('.');
    const payload = { jti: `txn_${'a'.repeat(22)}`, client_id: partner.clientId, exp: 1 };
    const forged = Buffer.from(JSON.stringify(payload)).toString('base64url');
    await expectRefusal(`Bearer ${head}.${forged}.${signature}`, unknown);
  });
});

describe('GET /api/oauth/userinfo', () => {
  it('answers 405 to POST, which RFC 6750 would allow', async () => {
    const token = await newToken();
    const url = `${oauth.server.baseUrl}/api/oauth/userinfo`;
    const body = new URLSearchParams({ access_token: token });
    const answer = await answerOf(fetch(url, { method: 'POST', body }));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('GET /api/oauth/userinfo', () => {
  it('answers 429 after 120 requests of one client in a minute, with any of its tokens', async () => {
    const other = await oauth.partner();
    const tokens = [await newToken('adult', undefined, other), await newToken('teen', undefined, other)];
    const answers = await Promise.all(
      Array.from({ length: 121 }, (_, n) => oauth.userinfo(bearer(tokens[n % 2]))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    const [refused] = answers.filter(({ status }) => status === 429);
    expect(refused).toMatchObject({
      error: 'rate_limited',
      error_description: 'Userinfo rate limit exceeded',
    });
    expect(refused?.headers.get('retry-after')).toBe('50');
    expect((await oauth.userinfo(bearer(await newToken()))).status).toBe(200);

    oauth.clock.advance(50_000);
    expect((await oauth.userinfo(bearer(tokens[0]))).status).toBe(200);
  });

  it("answers 429 by the client's own limit of userinfo requests, which does not limit its token exchanges", async () => {
    const other = await oauth.partner({
      client: { userinfoRequestsPerMinute: 1, tokenRequestsPerMinute: 2 },
    });
    const token = await newToken('adult', undefined, other);
    expect((await oauth.userinfo(bearer(token))).status).toBe(200);
    expect((await oauth.userinfo(bearer(token))).status).toBe(429);
    expect((await oauth.exchange(other, await oauth.verified(other))).status).toBe(200);
  });

  it('does not count requests with an invalid token for the limit that leads to 429', async () => {
    const other = await oauth.partner({ client: { userinfoRequestsPerMinute: 1 } });
    for (let n = 0; n < 5; n += 1) await oauth.userinfo(bearer('eyJ.eyJ.eyJ'));
    expect((await oauth.userinfo(bearer(await newToken('adult', undefined, other)))).status).toBe(200);
  });
});
