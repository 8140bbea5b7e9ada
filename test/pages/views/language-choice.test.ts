import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languageNames } from '../../../server/pages/views/languages.ts';
import { publicRoutes } from '../../harness/public-routes.ts';
import { type Answer, openBrowser } from '../browser.ts';
import { baseUrl, type Hosted, onboard, startHosted, startQuery, state } from '../hosted.ts';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on' } });
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

const languageOf = ({ body }: Answer) => /<html lang="(\w+)" dir="(\w+)">/.exec(body)?.slice(1);

/** Returns the page's links to other languages, by language code. */
function choices({ body }: Answer): Record<string, string> {
  const links = body.matchAll(/<a href="([^"]*)" lang="(\w+)" hreflang="\2" dir="\w+"/g);
  return Object.fromEntries(
    [...links].map(([, href = '', code = '']) => [code, href.replaceAll('&amp;', '&')]),
  );
}

/** Follows the page's link to a language, as a browser does. */
async function choose(browser: ReturnType<typeof openBrowser>, code: string): Promise<Answer> {
  const link = new URL(choices(browser.page)[code] ?? '', baseUrl + browser.at);
  const { location } = await browser.request(link.href);
  return browser.open(new URL(location, link).href);
}

describe('the choice of a language', () => {
  it('offers each language by its own name, and marks the present language', async () => {
    const { body } = await openBrowser(hosted).start(clientId, { ui_locales: 'fr' });
    for (const { code } of languageNames) expect(body).toContain(`hreflang="${code}"`);
    for (const { name } of languageNames) expect(body).toContain(`>${name}</a>`);
    expect(body).toMatch(/lang="fr" hreflang="fr" dir="ltr" aria-current="true">Français/);
    expect(body.match(/aria-current="true"/g)).toHaveLength(1);
  });

  it("overrides the partner's ui_locales, and does not change the session", async () => {
    const browser = openBrowser(hosted);
    await browser.start(clientId, { ui_locales: 'fr' });
    await browser.press({ decision: 'accept' });
    const { at } = browser;
    const sessionBefore = await hosted.stores.sessions.find(browser.sessionId());
    const page = await choose(browser, 'ar');
    expect(languageOf(page)).toEqual(['ar', 'rtl']);
    expect(page.body).toContain('value="adult"');
    expect(browser.at).toBe(at);
    expect(await hosted.stores.sessions.find(browser.sessionId())).toEqual(sessionBefore);
    expect((await browser.press({ person: 'adult' })).location).toContain('code=');
  });

  it('applies to the next session, and to error pages', async () => {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    await choose(browser, 'de');
    expect(languageOf(await browser.start(clientId, { ui_locales: 'fr' }))).toEqual(['de', 'ltr']);
    expect(languageOf(await browser.open('/verify/session/ses_unknown'))).toEqual(['de', 'ltr']);
  });

  it('is stored in a cookie that scripts cannot read', async () => {
    const { headers } = await openBrowser(hosted).request('/verify/session/x?lang=es');
    expect(headers['set-cookie']).toBe('svc_language=es; Path=/verify; HttpOnly; Secure; SameSite=Lax');
  });

  it('shows the page of a refused start again in the chosen language, with 400 and the same error', async () => {
    const browser = openBrowser(hosted);
    const query = startQuery(clientId, { redirect_uri: 'https://other.example/' });
    const refused = await browser.open(`/verify/start?${query}`);
    const chosen = await choose(browser, 'de');
    expect(languageOf(chosen)?.[0]).toBe('de');
    expect(chosen.status).toBe(400);
    const detail = ({ body }: Answer) => /<code>([^<]*)<\/code>/.exec(body)?.[1];
    expect(detail(chosen)).toBe(detail(refused));
    expect(browser.at).toBe(`/verify/start?${query}`);
    expect(`${(await browser.open(`/verify/start?x=${'a'.repeat(5000)}`)).body.length}`).toMatch(/^\d{4}$/);
  });

  it('leads from each page that answers a form to a page that exists', async () => {
    const browser = openBrowser(hosted);
    await browser.start(clientId);
    const sessionId = browser.sessionId();
    // Only scripts of tests call the one of the test wallet.
    const posts = (await publicRoutes(hosted)).filter(
      ({ method, url }) =>
        method === 'POST' && url.startsWith('/verify/') && url !== '/verify/test-wallet/credential',
    );
    const withPage: string[] = [];
    const missing: string[] = [];
    for (const { url } of posts) {
      const path = url.replace(':session_id', sessionId).replace(/:\w+/, 'x');
      const answer = await browser.request(path, { csrf: 'x', step: 'consent' });
      if (choices(answer)['de'] === undefined) continue;
      withPage.push(url);
      const { headers } = await choose(browser, 'de');
      const error = headers['x-svc-error'];
      const isMissing = error === 'route_not_found' || error === 'method_not_allowed';
      if (isMissing) missing.push(url);
    }
    expect(missing).toEqual([]);
    expect(withPage.sort()).toEqual([
      '/verify/p/:token',
      '/verify/phone/:session_id',
      '/verify/phone/:session_id/wallet',
      '/verify/session/:session_id',
      '/verify/session/:session_id/passkey/use',
      '/verify/session/:session_id/wallet',
      '/verify/test-wallet/',
      '/verify/you/sign-in',
    ]);
  });

  it('uses links without the state or the code of the request', async () => {
    const browser = openBrowser(hosted);
    const page = await browser.start(clientId);
    expect(Object.values(choices(page))).toContain('?lang=de');
    expect(page.body).not.toContain(encodeURIComponent(state));
    for (const [path, status] of [
      [`/verify/session/${browser.sessionId()}/return/x`, 401],
      ['/verify/callback/x', 403],
    ] as const) {
      const back = await openBrowser(hosted).open(`${path}?state=secret-state&code=secret-code`);
      expect(back.status).toBe(status);
      expect(back.body).not.toContain('secret-');
      expect(choices(back)['de']).toBe('?lang=de');
    }
  });

  it.each([
    ['the service does not have the language', '?lang=ja', {}],
    ['the language is __proto__', '?lang=__proto__', {}],
    ['the parameter is repeated and its first value is no language', '?lang=x&lang=de', {}],
    ['the link is on another site', '?lang=de', { 'sec-fetch-site': 'cross-site' }],
    ['the request comes from another origin', '?lang=de', { origin: 'https://evil.example' }],
  ])('is not stored if %s', async (_what, query, headers) => {
    const answer = await openBrowser(hosted).request(`/verify/session/x${query}`, undefined, headers);
    expect(answer.status).toBe(404);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('never redirects to another host, for any path', async () => {
    const { request } = openBrowser(hosted);
    const part = fc.constantFrom(
      '/',
      '//',
      '\\',
      '..',
      '.',
      ':',
      '@',
      'evil.example',
      '%2f',
      '%5c',
      'https:',
      'p',
    );
    const query = fc.constantFrom('', '&x=//evil.example', '&next=https://evil.example', '&&', '&lang=ar');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), query, async (parts, rest) => {
        const address = `/verify/${parts.join('')}?lang=de${rest}`;
        const { location } = await request(address);
        // A path with `..` can leave `/verify`, and then gets no redirect.
        if (location !== '') expect(new URL(location, baseUrl + address).host).toBe('verify.example');
      }),
      { numRuns: 150 },
    );
  });
});
