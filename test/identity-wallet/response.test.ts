import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { askIdentityWallet, postFields } from './asking.ts';
import { startWithIdentityWallets } from './attested.ts';

let service: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  service = await startWithIdentityWallets();
  partner = await createPartner(service, { client: { sources: ['age'] } });
});
afterAll(() => service.stop());

const wrong = { vp_token: JSON.stringify({ proof_of_age: ['AAAA'] }) };

interface Answer {
  redirect_uri: string;
}

/** Sends these fields to the response URI of a new session. @returns its answer */
async function sendAnswer(fields: Record<string, string>) {
  const asked = await askIdentityWallet(service, 'age', { partner });
  const { response_uri: uri } = await asked.asked();
  const response = await postFields(uri, fields);
  const body = (await response.json()) as Answer;
  const code = new URL(body.redirect_uri).searchParams.get('response_code') ?? '';
  return { ...asked, response, body, code };
}

describe('the response URI (OpenID4VP 1.0, 8.2)', () => {
  it('answers a refused presentation with 400 and a return address with a new response code', async () => {
    const [one, other] = [await sendAnswer(wrong), await sendAnswer(wrong)];
    expect(one.response.status).toBe(400);
    expect(one.body).toEqual({
      success: false,
      error: 'The presentation was refused',
      redirect_uri: expect.stringMatching(
        `^${service.baseUrl}/verify/session/${one.sessionId}/wallet\\?response_code=[\\w-]{43}$`,
      ) as string,
    });
    expect(one.code).not.toBe(other.code);
    const end = await one.pages.open(one.body.redirect_uri);
    expect(end.returned).toMatchObject({ error: 'verification_failed' });
  });

  it("answers a wallet's error with 200 and a return address with a new response code", async () => {
    const { response, code, body, pages } = await sendAnswer({ error: 'access_denied' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(code).toMatch(/^[\w-]{43}$/);
    const page = await pages.open(body.redirect_uri);
    expect(page.html).toContain('You said no in your identity wallet.');
  });

  it("returns after an error an address: 200 in the user's browser, 401 in another, 403 for a wrong code", async () => {
    const { pages, body } = await sendAnswer({ error: 'access_denied' });
    expect((await openPages(service).open(body.redirect_uri)).status).toBe(401);
    expect((await pages.open(`${body.redirect_uri}x`)).status).toBe(403);
    expect((await pages.open(body.redirect_uri)).status).toBe(200);
    expect((await pages.open(body.redirect_uri)).status).toBe(200);
  });
});
