import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';
import { call, createShop, fields, type Shop, sign } from '../storefront/shop.ts';

let server: TestServer;
let test: TestPartner;
let live: TestPartner;
let shop: Shop;
const registered = ['https://a.example/callback', 'https://b.example/cb'];
beforeAll(async () => {
  server = await startTestServer();
  test = await createPartner(server, { client: { redirectUris: registered } });
  live = await createPartner(server, { mode: 'live', client: { redirectUris: registered } });
  shop = await createShop(server);
});
afterAll(() => server.stop());

/** The text of the 400 answer to a start. */
async function refusalOf(
  { clientId }: TestPartner,
  redirectUri: string,
  scope = 'age_18_plus',
  accept = '*/*',
) {
  const { state, codeChallenge } = newStart();
  const url = startUrl({ baseUrl: server.baseUrl, clientId, redirectUri, scope, state, codeChallenge });
  const answer = await fetch(url, { headers: { accept }, redirect: 'manual' });
  expect(answer.status).toBe(400);
  const text = await answer.text();
  return accept === '*/*' ? (JSON.parse(text) as { error: string }).error : text;
}

describe('the error of a refused start in test mode', () => {
  it('names the redirect URI of the request, and the most similar registered one', async () => {
    expect(await refusalOf(test, 'https://b.example/cb/')).toBe(
      'redirect_uri: not registered for this client; it must match exactly. ' +
        'Sent: https://b.example/cb/; nearest registered: https://b.example/cb',
    );
  });

  it('names the permitted claims, and how to separate identifiers', async () => {
    const permitted = 'permitted: age_18_plus identity_verified country';
    expect(await refusalOf(test, registered[0] ?? '', 'age_21_plus')).toBe(
      `scope: this client may not ask for age_21_plus; ${permitted}`,
    );
    expect(await refusalOf(test, registered[0] ?? '', 'age_18_plus,country')).toBe(
      `scope: no known claim identifier in it; identifiers are separated by spaces; sent: age_18_plus,country; ${permitted}`,
    );
  });

  it('escapes markup from the request as HTML, and masks a secret in the redirect URI', async () => {
    const page = await refusalOf(test, 'https://b.example/<script>alert(1)</script>', undefined, 'text/html');
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('<script>alert');
    expect(await refusalOf(test, 'https://b.example/?k=svc_test_AAAABBBB')).not.toContain('AAAABBBB');
  });
});

it('the error of a refused start in live mode shows neither registered redirect URIs nor permitted claims', async () => {
  const fault = 'redirect_uri: not registered for this client; it must match exactly';
  expect(await refusalOf(live, 'https://b.example/cb/')).toBe(fault);
  const scopes = ['age_21_plus', 'shoe_size', 'age_18_plus,country'];
  const texts = await Promise.all(scopes.map((scope) => refusalOf(live, registered[0] ?? '', scope)));
  expect(texts).toEqual([
    'scope: this client may not ask for age_21_plus',
    'scope: no known claim identifier in it',
    'scope: no known claim identifier in it; identifiers are separated by spaces',
  ]);
});

it('the error of a refused exchange in test mode names both redirect URIs, or says that the challenge was sent as verifier', async () => {
  const partner = await createPartner(server);
  const code = await completeSession(server, partner);
  const describedAs = async (changes: Partial<typeof partner & typeof code>) => {
    const answer = await exchangeCode(server, { ...partner, ...changes }, { ...code, ...changes });
    return ((await answer.json()) as { error_description: string }).error_description;
  };
  const slash = `${partner.redirectUri}/`;
  expect(await describedAs({ redirectUri: slash })).toBe(
    `redirect_uri differs from the one used at authorization: sent ${slash}, used ${partner.redirectUri}`,
  );
  const challenge = createHash('sha256').update(code.codeVerifier).digest('base64url');
  expect(await describedAs({ codeVerifier: challenge })).toMatch(
    /4 tries are left for this code\. It is the code_challenge/,
  );
});

describe('the error of a refused storefront call', () => {
  const ask = async (body: string, headers: Record<string, string>) => {
    const answer = await call(server, body, headers);
    return answer.body['error'];
  };

  it('names in test mode the registered shops, and explains that a shop_domain is not a URL', async () => {
    const body = JSON.stringify(fields('svc_code_x', { shop_domain: 'https://wine.example/' }));
    expect(await ask(body, sign(shop, body, Date.now()))).toBe(
      'Shop not found: https://wine.example/; a shop_domain is a host name, without https:// and without a path; ' +
        'this integration has wine.example, spirits.example',
    );
  });

  it('names in test mode the mistake in a signature, but only to a caller with the right secret', async () => {
    const body = JSON.stringify(fields('svc_code_x'), null, 2);
    const compact = JSON.stringify(JSON.parse(body));
    const at = Date.now();
    const { integrationSecret } = shop;
    const alone = `sha256=${createHmac('sha256', integrationSecret).update(body).digest('hex')}`;
    const bare = { ...shop, integrationSecret: integrationSecret.replace('intsec_', '') };
    expect(await ask(body, sign(shop, compact, at))).toMatch(/another serialisation of the body/);
    expect(await ask(body, { ...sign(shop, body, at), 'x-svc-signature': alone })).toMatch(
      /signs the body alone/,
    );
    expect(await ask(body, sign(bare, body, at))).toMatch(/without the intsec_/);
    const foreign = { ...shop, integrationSecret: 'intsec_other' };
    expect(await ask(body, sign(foreign, body, at))).toBe(
      'Invalid signature: sign {integration_id}.{timestamp}.{raw body}, the raw body being the very bytes that are sent',
    );
  });

  it('has only the standard text in live mode and for an unknown integration', async () => {
    const funded = await createShop(server, {
      mode: 'live',
      client: { redirectUris: ['https://wine.example/cb'] },
    });
    const body = JSON.stringify(fields('svc_code_x', { shop_domain: 'https://wine.example/' }));
    expect(await ask(body, sign(funded, body, Date.now()))).toBe('Shop not found');
    const unknown = { ...shop, integrationId: 'int_0000000000000000000000' };
    for (const one of [unknown, { ...funded, integrationSecret: 'intsec_other' }])
      expect(await ask(body, sign(one, body, Date.now()))).toBe(
        'Invalid signature or missing signing headers',
      );
  });
});
