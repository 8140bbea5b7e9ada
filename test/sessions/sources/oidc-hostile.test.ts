import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { exchangeCode, type TestPartner } from '../../harness/partner.ts';
import type { TestServer } from '../../harness/server.ts';
import { type Misdeed, startHostileProvider } from './hostile-provider.ts';
import { openPages, partnerOf, startWithSources } from './oidc-site.ts';

let provider: Awaited<ReturnType<typeof startHostileProvider>>;
let service: TestServer;
let partner: TestPartner;
/** A partner whose source requires that users have signed in within the last minute. */
let strict: TestPartner;
beforeAll(async () => {
  provider = await startHostileProvider();
  const failures = { document_expired: 'document_rejected' };
  const source = { name: 'idp', issuer: provider.issuer, failures };
  const recent = { ...source, name: 'recent', parameters: { max_age: '60' } };
  service = await startWithSources(await freePort(), [source, recent]);
  partner = await partnerOf(service, 'idp');
  strict = await partnerOf(service, 'recent');
});
afterAll(async () => {
  await service.stop();
  await provider.close();
});

async function follow(url: string): Promise<string> {
  return (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
}

async function verify(misdeed: Misdeed, at = partner) {
  provider.behave(misdeed);
  const pages = openPages(service);
  const { page, sessionId, codeVerifier } = await pages.start(at);
  const back = await follow(page.provider);
  const end = await pages.open(back);
  provider.behave({});
  const { failure } = await service.admin.sessions.show.query({ sessionId });
  return { pages, page, back, end, sessionId, codeVerifier, reason: failure?.reason };
}

/** Exchanges the code. @returns the claims of userinfo */
async function claimsOf({ end, codeVerifier }: Awaited<ReturnType<typeof verify>>) {
  const answer = await exchangeCode(service, partner, { code: end.returned?.['code'] ?? '', codeVerifier });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const userinfo = await fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers });
  return ((await userinfo.json()) as { claims: unknown }).claims;
}

describe("the provider's userinfo response", () => {
  it('adds claims to the ID token, and does not replace its claims', async () => {
    const userinfo = { sub: 'said-twice', birthdate: '2020-01-01', address: { country: 'FR' } };
    const idToken: Misdeed['idToken'] = (claims) => ({ ...claims, sub: 'said-twice' });
    const verified = await verify({ idToken, userinfo });
    expect(await claimsOf(verified)).toMatchObject({ age_18_plus: true, country: 'FR' });
  });
});

describe('a source with max_age', () => {
  const signedIn = (secondsAgo: number): Misdeed => ({
    idToken: (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1000) - secondsAgo }),
  });

  it('sends max_age, and accepts a user who has signed in recently', async () => {
    const { page, end } = await verify(signedIn(0), strict);
    expect(new URL(page.provider).searchParams.get('max_age')).toBe('60');
    expect(end.returned).toHaveProperty('code');
  });

  it.each<[string, Misdeed]>([
    ['an hour ago', signedIn(3_600)],
    ['at a time that the ID token does not state', {}],
  ])('fails with source_error if the user has signed in %s', async (_when, misdeed) => {
    const { end, reason } = await verify(misdeed, strict);
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect(reason).toBe('source_error');
    expect((await verify(misdeed)).end.returned).toHaveProperty('code');
  });
});

/** Sets a time of the ID token. */
const shifted =
  (claim: 'exp' | 'nbf', seconds: number): NonNullable<Misdeed['idToken']> =>
  (claims) => ({ ...claims, [claim]: Math.floor(Date.now() / 1000) + seconds });

describe('an answer of the provider', () => {
  it('yields a code if it is valid', async () => {
    const { end, reason } = await verify({});
    expect(end.returned).toHaveProperty('code');
    expect(reason).toBeUndefined();
  });

  it.each<[string, Misdeed]>([
    ['expired 50 s ago', { idToken: shifted('exp', -50) }],
    ['is valid from 50 s later', { idToken: shifted('nbf', 50) }],
  ])('yields a code if its ID token %s, for clocks that differ', async (_what, misdeed) => {
    expect((await verify(misdeed)).end.returned).toHaveProperty('code');
  });

  it.each<[string, Misdeed]>([
    ['another nonce', { idToken: (claims) => ({ ...claims, nonce: 'x' }) }],
    ['no nonce', { idToken: ({ nonce: _nonce, ...claims }) => claims }],
    ['another issuer in the ID token', { idToken: (claims) => ({ ...claims, iss: 'https://evil.example' }) }],
    ['another audience', { idToken: (claims) => ({ ...claims, aud: 'another' }) }],
    ['an ID token that expired 70 s ago', { idToken: shifted('exp', -70) }],
    ['an ID token that is valid from 70 s later', { idToken: shifted('nbf', 70) }],
    ['a signature with another key', { foreignKey: true }],
    ['another issuer in the redirect', { redirect: { iss: 'https://evil.example' } }],
    ['a code that the provider does not know', { redirect: { code: 'stolen' } }],
    ['a code that the token endpoint answers with 500', { tokenStatus: 500 }],
    ['userinfo about another subject', { userinfo: { sub: 'another' } }],
  ])('fails the session with source_error if it contains %s', async (_what, misdeed) => {
    const { end, reason } = await verify(misdeed);
    expect(end.returned).not.toHaveProperty('code');
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    expect(reason).toBe('source_error');
  });

  it.each([
    ['source_error', 'access_denied'],
    ['document_rejected', 'document_expired'],
    ['source_error', 'temporarily_unavailable'],
    ['source_error', 'constructor'],
  ])('fails the session with %s if it is the error %s', async (expected, error) => {
    expect((await verify({ redirect: { error, code: '' } })).reason).toBe(expected);
  });

  it('fails the session with source_error if another issuer sent the error', async () => {
    const redirect = { error: 'document_expired', iss: 'https://evil.example' };
    expect((await verify({ redirect })).reason).toBe('source_error');
  });

  it('has its code exchanged only once, even if the browser opens the callback several times', async () => {
    provider.behave({});
    const pages = openPages(service);
    const { page } = await pages.start(partner);
    const back = await follow(page.provider);
    const exchangesBefore = provider.exchanges();
    await Promise.all([pages.open(back), pages.open(back), pages.open(back)]);
    expect(provider.exchanges()).toBe(exchangesBefore + 1);
    expect((await pages.open(back)).returned).toHaveProperty('code');
    expect(provider.exchanges()).toBe(exchangesBefore + 1);
  });

  it('blocks no reload while it is late: the reloaded page waits, and then continues', async () => {
    let answer = () => {};
    provider.behave({
      heldBack: new Promise((resolve) => {
        answer = resolve;
      }),
    });
    const pages = openPages(service);
    const { page } = await pages.start(partner);
    const back = await follow(page.provider);
    const exchangesBefore = provider.exchanges();
    const givenUp = openPages(service);
    for (const [name, value] of pages.cookies) givenUp.cookies.set(name, value);
    const first = givenUp.open(back);
    await expect.poll(() => provider.exchanges()).toBe(exchangesBefore + 1);
    const reload = await pages.open(back);
    expect([reload.status, reload.refreshAfter]).toEqual([200, 2]);
    expect((await pages.open(back)).status).toBe(200);
    expect(provider.exchanges()).toBe(exchangesBefore + 1);
    answer();
    provider.behave({});
    expect((await first).returned).toHaveProperty('code');
    expect((await pages.open(reload.at)).returned).toHaveProperty('code');
  });

  it('yields the same error redirect again if it is sent again after a failure', async () => {
    const { pages, back, end } = await verify({ tokenStatus: 500 });
    expect((await pages.open(back)).returned).toEqual(end.returned);
  });

  it('is accepted as soon as an unreachable provider answers again', async () => {
    provider.behave({ away: true });
    const fresh = await startWithSources(await freePort(), [{ name: 'idp', issuer: provider.issuer }]);
    const pages = openPages(fresh);
    const { page } = await pages.start(await partnerOf(fresh, 'idp'));
    expect(page.status).toBe(503);
    provider.behave({});
    const again = await pages.open(page.at);
    expect(again.status).toBe(200);
    expect((await pages.open(await follow(again.provider))).returned).toHaveProperty('code');
    await fresh.stop();
  });
});
