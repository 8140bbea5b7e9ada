import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner } from '../../../harness/partner.ts';
import type { TestServer } from '../../../harness/server.ts';
import { openPages } from '../oidc-site.ts';
import { startWithWallets, walletSources } from './attested.ts';
import { otherWallet } from './other-wallet.ts';

let service: TestServer;
const names = walletSources.map(({ name }) => name);

beforeAll(async () => {
  service = await startWithWallets();
}, 60_000);
afterAll(() => service.stop());

interface Request {
  protocol: string;
  data: Record<string, unknown> & { request?: string };
}

const requestIn = (html: string) =>
  JSON.parse(
    (/data-request="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  ) as Request;

async function ask(source: string) {
  const partner = await createPartner(service, { client: { source } });
  const pages = openPages(service);
  const { page, sessionId } = await pages.start(partner, 'age_18_plus country');
  const { csrf = '', token = '' } = page.fields;
  const post = (data: object | string, changes: Record<string, string> = {}, by = pages) =>
    by.open(`${page.at}/wallet`, {
      csrf,
      token,
      data: typeof data === 'string' ? data : JSON.stringify(data),
      ...changes,
    });
  const show = () => service.admin.sessions.show.query({ sessionId });
  return { page, pages, post, show, request: requestIn(page.html) };
}

describe('the request for the Digital Credentials API', () => {
  it('of the age verification profile is not signed, and has no address to answer to', async () => {
    const { request } = await ask('age');
    expect(request.protocol).toBe('openid4vp-v1-unsigned');
    expect(request.data).toMatchObject({ response_type: 'vp_token', response_mode: 'dc_api' });
    for (const absent of ['client_id', 'response_uri', 'expected_origins', 'state'])
      expect(request.data).not.toHaveProperty(absent);
  });

  it('of a PID is signed for our origin, and its answer is encrypted', async () => {
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

describe.each(names)('an answer by the Digital Credentials API to %s', (source) => {
  it('verifies, and the browser that asked goes on', async () => {
    const { request, post, show } = await ask(source);
    const end = await post(await otherWallet.pick(request, service.baseUrl));
    expect(end.returned).toHaveProperty('code');
    expect(await show()).toMatchObject({ status: 'complete', failure: null });
  });

  it('counts once: the same form again leads to where the session is', async () => {
    const { request, post, show } = await ask(source);
    const data = await otherWallet.pick(request, service.baseUrl);
    const ends = await Promise.all([post(data), post(data), post(data)]);
    expect(ends.some(({ returned }) => returned?.['code'] !== undefined)).toBe(true);
    const { timeline } = await show();
    expect(timeline.filter(({ event }) => event === 'authenticated')).toHaveLength(1);
  });

  it('is refused when it was made for a page of another origin', async () => {
    const { request, post, show } = await ask(source);
    const end = await post(await otherWallet.pick(request, service.baseUrl, 'https://other.example'));
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
    const why = source === 'pid-sd-jwt' ? 'wrong audience' : 'holder proof wrong';
    expect((await show()).timeline.at(-1)?.note).toBe(`document_rejected: ${why}`);
  });

  it('is refused when it answers the request of another session', async () => {
    const [mine, other] = [await ask(source), await ask(source)];
    const data = await otherWallet.pick(other.request, service.baseUrl);
    expect((await mine.post(data)).returned).toMatchObject({ error: 'verification_failed' });
    expect((await mine.show()).failure?.reason).toBe('document_rejected');
    expect((await other.show()).failure).toBeNull();
  });

  it('that is no answer at all is refused', async () => {
    const { post, show } = await ask(source);
    expect((await post('no JSON')).returned).toMatchObject({ error: 'verification_failed' });
    expect((await show()).timeline.at(-1)?.note).toBe('document_rejected: malformed: JSON');
  });

  it('with an error leaves the session open, with a way on', async () => {
    const { post } = await ask(source);
    const page = await post({ error: 'access_denied' });
    expect(page.returned).toBeUndefined();
    expect(page.html).toContain('You said no in your wallet.');
    expect(requestIn(page.html).protocol).toMatch(/^openid4vp-v1-/);
  });
});

describe('the form with the answer', () => {
  it('does nothing for a request that has been answered', async () => {
    const { request, post, show } = await ask('age');
    await post({ error: 'access_denied' });
    const late = await post(await otherWallet.pick(request, service.baseUrl));
    expect(late.returned).toBeUndefined();
    expect((await show()).failure).toBeNull();
  });

  it('needs the token of its page, and the cookie of its browser', async () => {
    const { request, post, show } = await ask('age');
    const data = await otherWallet.pick(request, service.baseUrl);
    expect((await post(data, { csrf: 'forged.token' })).status).toBe(403);
    expect((await post(data, {}, openPages(service))).status).toBe(401);
    expect((await show()).status).toBe('pending');
  });

  it('must not come from another site', async () => {
    const { page, pages } = await ask('age');
    const cookie = [...pages.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = new URLSearchParams({ ...page.fields, data: '{}' });
    const headers = { cookie, origin: 'https://other.example', accept: 'text/html' };
    const response = await fetch(`${page.at}/wallet`, { method: 'POST', headers, body });
    expect(response.status).toBe(403);
  });

  it('of a PID is refused in clear', async () => {
    const { post, show } = await ask('pid-sd-jwt');
    await post({ vp_token: { pid_sd_jwt: ['x~y'] } });
    expect((await show()).timeline.at(-1)?.note).toBe(
      'document_rejected: malformed: the answer is not encrypted',
    );
  });

  it('is not there for an answer that was made for the response URI', async () => {
    const { page, request, post, show } = await ask('age');
    const [, link = ''] = /href="(av:\/\/[^"]*)"/.exec(page.html) ?? [];
    const { asked } = await otherWallet.open(link.replaceAll('&amp;', '&'));
    expect(asked.authorizationRequestPayload.nonce).toBe(request.data['nonce']);
    const late = await post(await otherWallet.pick(request, service.baseUrl));
    expect(late.returned).toBeUndefined();
    expect((await show()).status).toBe('pending');
  });
});
