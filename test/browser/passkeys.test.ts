import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const languages = ['en', 'de', 'fr', 'es', 'ar'];

describeInBrowser('passkeys of users', () => {
  let server: TestServer;
  let browser: Browser;
  let shop: Shop;
  let other: Shop;

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startTestServer({ env: { SVC_PASSKEYS: 'on' } }),
      launchBrowser(),
    ]);
    [shop, other] = await Promise.all([openShop(server), openShop(server)]);
  }, within(60_000));
  afterAll(async () => {
    await browser.close();
    await Promise.all([shop.close(), other.close()]);
    await server.stop();
  });

  const at =
    ({ origin }: Shop) =>
    (url: URL) =>
      url.origin === origin;

  /** A browser on a device that checks its user by fingerprint, and its authenticator. */
  async function withAuthenticator(look: Parameters<typeof newVisitor>[1] = {}) {
    const visitor = await newVisitor(browser, look);
    const devtools = await visitor.page.context().newCDPSession(visitor.page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    const setVerified = (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    return { ...visitor, setVerified };
  }

  async function toQuestion({ page }: Pick<Visitor, 'page'>, person = 'new-adult') {
    await page.goto(shop.link());
    await page.locator('input[name=passkey][value=can]').waitFor({ state: 'attached' });
    await page.click('button[value=accept]');
    await page.click(`button[value=${person}]`);
    await page.locator('form.passkey:not([hidden]) button').waitFor();
  }

  it('are saved with one tap, and lead back with one tap, also to another partner', async () => {
    const visitor = await withAuthenticator();
    const { page } = visitor;
    await toQuestion(visitor);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('form.passkey button');
    await page.waitForURL(at(shop));
    expect(shop.last()['code']).toMatch(/^svc_code_/);
    for (const site of [shop, other]) {
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.isNavigationRequest() && request.url().startsWith(server.baseUrl))
          sent.push(`${request.method()} ${new URL(request.url()).pathname.replace(/ses_\w+/, 'ID')}`);
      });
      await page.goto(site.link());
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.click('form.passkey:not([hidden]) button');
      await page.waitForURL(at(site));
      expect(site.last()['code']).toMatch(/^svc_code_/);
      expect(sent).toEqual([
        'GET /verify/start',
        'GET /verify/session/ID',
        'POST /verify/session/ID/passkey/use',
      ]);
      page.removeAllListeners('request');
    }
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('are not offered again in this browser after "Not now"', async () => {
    const visitor = await withAuthenticator();
    const { page } = visitor;
    await toQuestion(visitor, 'adult');
    await page.click('button[value=no-passkey]');
    await page.waitForURL(at(shop));
    await page.goto(shop.link());
    await page.locator('input[name=passkey][value=can]').waitFor({ state: 'attached' });
    await page.click('button[value=accept]');
    await page.click('button[value=adult]');
    await page.waitForURL(at(shop));
    await visitor.close();
  });

  it('leave the page as it was where the device does not confirm its user', async () => {
    const visitor = await withAuthenticator();
    const { page } = visitor;
    await toQuestion(visitor);
    await visitor.setVerified(false);
    await page.click('form.passkey button');
    await page.locator('form.passkey button:not([disabled])').waitFor();
    await page.click('button[value=no-passkey]');
    await page.waitForURL(at(shop));
    await visitor.close();
  });

  it('are never asked for without scripts', async () => {
    const { page, close } = await newVisitor(browser, { javaScriptEnabled: false });
    await page.goto(shop.link());
    expect(await page.locator('form.passkey').isVisible()).toBe(false);
    await page.click('button[value=accept]');
    await page.click('button[value=new-adult]');
    await page.waitForURL(at(shop));
    expect(shop.last()['code']).toMatch(/^svc_code_/);
    await close();
  });

  it.each(languages)('have pages in %s that fit on the screen of a phone', async (language) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const visitor = await withAuthenticator({
        locale: language,
        viewport: { width: 390, height: 844 },
        colorScheme,
      });
      const { page } = visitor;
      await page.goto(shop.link());
      await page.locator('form.passkey:not([hidden])').waitFor();
      const button = await page.locator('form.passkey button').boundingBox();
      await keepScreenshot(page, `consent-passkey-phone-${language}-${colorScheme}`);
      expect((button?.y ?? 10_000) + (button?.height ?? 0)).toBeLessThanOrEqual(844);
      await toQuestion(visitor);
      await keepScreenshot(page, `save-passkey-phone-${language}-${colorScheme}`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await visitor.close();
    }
  });
});
