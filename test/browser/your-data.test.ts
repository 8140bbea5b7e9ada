import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { expectReadable } from './appearance.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';
import { type PasskeyVisitor, savePasskey, withAuthenticator } from './with-passkeys.ts';

describeInBrowser('the user data page', () => {
  let server: TestServer;
  let browser: Browser;
  let shop: Shop;
  let other: Shop;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startTestServer({ env: { SVC_PASSKEYS: 'on', SVC_HELP_ADDRESS: 'help@verify.example' } }),
      launchBrowser(),
    ]);
    [shop, other] = await Promise.all([
      openShop(server, { brandName: 'Weinhaus Grün' }),
      openShop(server, { brandName: 'Kino West' }),
    ]);
  }, within(60_000));
  afterAll(async () => {
    await browser.close();
    await Promise.all([shop.close(), other.close()]);
    await server.stop();
  });

  const root = () => `${server.baseUrl}/verify/you`;
  const at =
    ({ origin }: Shop) =>
    (url: URL) =>
      url.origin === origin;

  /** Shares claims of a new user with two partners, and signs in to the user data page. */
  async function signedIn(look: Parameters<typeof newVisitor>[1] = {}): Promise<PasskeyVisitor> {
    const visitor = await withAuthenticator(browser, look);
    const { page } = visitor;
    await savePasskey(visitor, shop);
    await page.goto(other.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.waitForURL(at(other));
    await page.goto(root());
    await page.click('form.passkey:not([hidden]) button');
    await page.locator('article').first().waitFor();
    return visitor;
  }

  it('is shown after a sign-in by passkey, and the user can stop sharing and erase everything', async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    expect(await page.locator('article').count()).toBe(2);
    await page.click('article:first-of-type a.button');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('button.danger');
    await page.getByText('You stopped sharing on').waitFor();
    expect(await page.locator('article a.button').count()).toBe(1);
    await page.click('section[aria-labelledby=passkeys] a.button');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('a.button');
    await page.click('section[aria-labelledby=erase] a.button');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('button.danger');
    await page.getByText('Everything was erased').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(root());
    await page.click('form.passkey:not([hidden]) button');
    await page.getByText('We do not know this passkey').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('asks for a passkey again after the sign-out', async () => {
    const visitor = await signedIn();
    await visitor.page.click('form.signed-in button');
    await visitor.page.locator('form.passkey:not([hidden])').waitFor();
    await visitor.close();
  });

  it('names a contact if the browser runs no scripts', async () => {
    const { page, close } = await newVisitor(browser, { javaScriptEnabled: false });
    await page.goto(root());
    expect(await page.locator('form.passkey').isVisible()).toBe(false);
    expect(await page.locator('a[href="mailto:help@verify.example"]').first().isVisible()).toBe(true);
    await close();
  });

  const languages = ['en', 'de', 'fr', 'es', 'ar'];
  it('is accessible in each language, and fits the width of a phone and a desktop', async () => {
    const { page, close } = await signedIn();
    const pages = {
      data: root(),
      stop: `${root()}/stop/${shop.partner.partnerId}`,
      erase: `${root()}/erase`,
    };
    for (const locale of languages) {
      await page.setExtraHTTPHeaders({ 'accept-language': locale });
      const where = locale === 'en' ? undefined : ['narrow-dark'];
      for (const [what, url] of Object.entries(pages)) {
        await page.goto(url);
        expect(await page.locator('html').getAttribute('lang')).toBe(locale);
        await expectReadable(page, `your-data-${what}-${locale}`, where);
      }
    }
    await close();
  });

  it('asks for a passkey on an accessible page in each language', async () => {
    const { page, close } = await withAuthenticator(browser, { viewport: { width: 390, height: 844 } });
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const locale of languages) {
      await page.setExtraHTTPHeaders({ 'accept-language': locale });
      await page.goto(root());
      await page.locator(`html[lang=${locale}] form.passkey:not([hidden])`).waitFor();
      await keepScreenshot(page, `your-data-sign-in-phone-${locale}-dark`);
      expect(await accessibilityFaults(page), locale).toEqual([]);
    }
    await close();
  });
});
