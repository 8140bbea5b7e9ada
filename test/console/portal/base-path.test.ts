import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { fieldIn, type SignedInMember, signedIn } from './signed-in.ts';

let server: TestServer;
let owner: SignedInMember;
beforeAll(async () => {
  const env = { SVC_PORTAL: 'on', SVC_BASE_URL: 'http://localhost:8080/svc' };
  server = await startTestServer({ env });
  owner = await signedIn(server, (await createPartner(server)).partnerId, 'owner');
});
afterAll(() => server.stop());

describe('the portal below the path /svc of SVC_BASE_URL', () => {
  it('has /svc in the action of its forms and in the redirect after a form', async () => {
    const { html } = await owner.browser.open('/warnings');
    expect(html).toContain('action="/svc/portal/warnings"');
    const wish = { csrf: fieldIn(html, 'csrf'), act: 'wish', wanted: 'yes' };
    const { status, response } = await owner.browser.post('/warnings', wish);
    expect([status, response.headers.get('location')]).toEqual([303, '/svc/portal/warnings?done']);
  });

  it('redirects a language link to the same page, and a visitor without session to the sign-in page', async () => {
    /** The address that a browser opens next. It resolves a relative one by the address of the page. */
    const locationOf = async (path: string) => {
      const { response } = await owner.browser.open(path);
      const { pathname, search } = new URL(
        response.headers.get('location') ?? '',
        `http://x/svc/portal${path}`,
      );
      return `${pathname}${search}`;
    };
    expect(await locationOf('/keys?lang=fr')).toBe('/svc/portal/keys');
    expect(await locationOf('/?lang=en')).toBe('/svc/portal/');
    for (const name of [...owner.browser.cookies.keys()]) owner.browser.cookies.delete(name);
    expect(await locationOf('/keys?after=x')).toBe('/svc/portal/sign-in?next=%2Fkeys%3Fafter%3Dx');
  });
});
