import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { askIdentityWallet, digitalRequestIn } from './asking.ts';
import { identityWalletSources, startWithIdentityWallets } from './attested.ts';
import { otherIdentityWallet } from './other-wallet.ts';

let service: TestServer;
const names = identityWalletSources.map(({ name }) => name);

beforeAll(async () => {
  service = await startWithIdentityWallets();
});
afterAll(() => service.stop());

const ask = (source: string) => askIdentityWallet(service, source);

describe('a request for the Digital Credentials API', () => {
  it('is not signed in the age verification profile, and has no response URI', async () => {
    const { request } = await ask('age');
    expect(request.protocol).toBe('openid4vp-v1-unsigned');
    expect(request.data).toMatchObject({ response_type: 'vp_token', response_mode: 'dc_api' });
    for (const absent of ['client_id', 'response_uri', 'expected_origins', 'state'])
      expect(request.data).not.toHaveProperty(absent);
  });

  it("is signed for the service's origin if it asks for a PID, and asks for an encrypted answer", async () => {
    const { request } = await ask('pid-sd-jwt');
    expect(request.protocol).toBe('openid4vp-v1-signed');
    expect(Object.keys(request.data)).toEqual(['request']);
    const payload = decodeJwt(request.data.request ?? '');
    expect(payload).toMatchObject({
      response_mode: 'dc_api.jwt',
      expected_origins: [service.baseUrl],
      client_id: expect.stringMatching(/^x509_hash:/) as string,
    });
    expect(payload).not.toHaveProperty('response_uri');
  });
});

describe.each(names)('a Digital Credentials API answer to the verification source %s', (source) => {
  it('completes the session in the browser that began it', async () => {
    const { request, post, show } = await ask(source);
    const end = await post(await otherIdentityWallet.pick(request, service.baseUrl));
    expect(end.returned).toHaveProperty('code');
    expect(await show()).toMatchObject({ status: 'complete', failure: null });
  });

  it('authenticates the user once if its form is sent three times', async () => {
    const { request, post, show } = await ask(source);
    const data = await otherIdentityWallet.pick(request, service.baseUrl);
    const ends = await Promise.all([post(data), post(data), post(data)]);
    expect(ends.some(({ returned }) => returned?.['code'] !== undefined)).toBe(true);
    const { timeline } = await show();
    expect(timeline.filter(({ event }) => event === 'authenticated')).toHaveLength(1);
  });

  it('fails the session with document_rejected if it was made for a page of another origin', async () => {
    const { request, post, show } = await ask(source);
    const end = await post(await otherIdentityWallet.pick(request, service.baseUrl, 'https://other.example'));
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    const why = source === 'pid-sd-jwt' ? 'wrong audience' : 'holder proof wrong';
    expect((await show()).timeline.at(-1)?.note).toBe(`document_rejected: ${why}`);
  });

  it('yields no code if it answers the request of another session', async () => {
    const [mine, other] = [await ask(source), await ask(source)];
    const end = await mine.post(await otherIdentityWallet.pick(other.request, service.baseUrl));
    const isEncrypted = source !== 'age';
    // An encrypted answer to another request cannot be decrypted, so it does not end the session.
    expect(end.status).toBe(isEncrypted ? 400 : 303);
    expect((await mine.show()).failure?.reason).toBe(isEncrypted ? undefined : 'document_rejected');
    expect((await mine.show()).code).toBeNull();
    expect((await other.show()).failure).toBeNull();
  });

  it('leaves the session open if it is an error, and the page offers another attempt', async () => {
    const { post } = await ask(source);
    const page = await post({ error: 'access_denied' });
    expect(page.returned).toBeUndefined();
    expect(page.html).toContain('You said no in your identity wallet.');
    expect(digitalRequestIn(page.html).protocol).toMatch(/^openid4vp-v1-/);
  });
});

describe('a form with a Digital Credentials API answer', () => {
  it('does not end the session if an earlier form answered the request with an error', async () => {
    const { request, post, show } = await ask('age');
    await post({ error: 'access_denied' });
    const late = await post(await otherIdentityWallet.pick(request, service.baseUrl));
    expect(late.returned).toBeUndefined();
    expect((await show()).failure).toBeNull();
  });

  it('is refused with 403 for a forged CSRF token, and with 401 without the cookie of its browser', async () => {
    const { request, post, show } = await ask('age');
    const data = await otherIdentityWallet.pick(request, service.baseUrl);
    expect((await post(data, { csrf: 'forged.token' })).status).toBe(403);
    expect((await post(data, {}, openPages(service))).status).toBe(401);
    expect((await show()).status).toBe('pending');
  });

  it('is refused with 403 from another site', async () => {
    const { page, pages } = await ask('age');
    const cookie = [...pages.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = new URLSearchParams({ ...page.fields, data: '{}' });
    const headers = { cookie, origin: 'https://other.example', accept: 'text/html' };
    const response = await fetch(`${page.at}/wallet`, { method: 'POST', headers, body });
    expect(response.status).toBe(403);
  });

  it('does not end the session if a wallet has opened the same request by its link', async () => {
    const { link, request, post, show } = await ask('age');
    const { asked } = await otherIdentityWallet.open(link);
    expect(asked.authorizationRequestPayload.nonce).toBe(request.data['nonce']);
    const late = await post(await otherIdentityWallet.pick(request, service.baseUrl));
    expect(late.returned).toBeUndefined();
    expect((await show()).status).toBe('pending');
  });
});
