import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, exchangeCode } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';
import { openPages } from '../sessions/sources/oidc-site.ts';
import { startWithIdentityWallets } from './attested.ts';
import { otherIdentityWallet } from './other-wallet.ts';

let service: TestServer;

beforeAll(async () => {
  service = await startWithIdentityWallets();
});
afterAll(() => service.stop());

async function ask(source: string) {
  const partner = await createPartner(service, { client: { sources: [source] } });
  const pages = openPages(service);
  const { page, codeVerifier } = await pages.start(partner, 'age_18_plus country');
  const [, link = ''] = /href="((?:av|openid4vp):\/\/[^"]*)"/.exec(page.html) ?? [];
  /** Exchanges the code, and returns userinfo. */
  async function exchange(code: string): Promise<unknown> {
    const token = await exchangeCode(service, partner, { code, codeVerifier });
    const { access_token: accessToken } = (await token.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${accessToken}` };
    return (await fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers })).json();
  }
  return { pages, exchange, link: link.replaceAll('&amp;', '&') };
}

describe('an identity wallet of other libraries', () => {
  it.each([
    ['age', 'redirect_uri', 'direct_post', { age_18_plus: true, country: null }],
    ['pid-sd-jwt', 'x509_hash', 'direct_post.jwt', { age_18_plus: true, country: 'DE' }],
    ['pid-mdoc', 'x509_hash', 'direct_post.jwt', { age_18_plus: true, country: 'DE' }],
  ])(
    'reads the request of the source %s, and its answer yields the claims',
    async (source, prefix, mode, claims) => {
      const { pages, exchange, link } = await ask(source);
      const { asked, status, back } = await otherIdentityWallet.open(link);
      expect(asked.client.prefix).toBe(prefix);
      expect(asked.authorizationRequestPayload.response_mode).toBe(mode);
      expect(asked.version).toBe(100);
      expect(status).toBe(200);
      const end = await pages.open(back);
      expect(await exchange(end.returned?.['code'] ?? '')).toMatchObject({ claims });
    },
  );
});
