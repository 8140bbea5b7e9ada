import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';
import { reachPasskeyOffer, savePasskey, withAuthenticator } from './with-passkeys.ts';

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

  /** Returns the id of the first passkey, in the encoding of the database. */
  const idOf = ([credential]: { credentialId: string }[]) =>
    Buffer.from(credential?.credentialId ?? '', 'base64').toString('base64url');

  it('are saved with one click, and verify a return with one click, also at another partner', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await reachPasskeyOffer(visitor, shop);
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

  it('do not replace a verification if the claims are older than the client allows', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await savePasskey(visitor, shop);
    const strict = await openShop(server, { maxVerificationAgeSeconds: 60 });
    await server.db
      .collection('users')
      .updateMany({}, [{ $set: { 'claims.age_18_plus.evaluatedAt': new Date(Date.now() - 61_000) } }]);
    await page.goto(strict.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.click('button[value=adult]');
    await page.waitForURL(at(strict));
    expect(strict.last()['code']).toMatch(/^svc_code_/);
    await visitor.close();
    await strict.close();
  });

  it('cause "Your passkey was not accepted" after their counter decreases, and "We do not know this passkey" after deletion', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await savePasskey(visitor, shop);
    await page.goto(shop.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.waitForURL(at(shop));
    await visitor.setCounterBack();
    await page.goto(shop.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.getByText('Your passkey was not accepted').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const credentials = await visitor.passkeys();
    expect(credentials).toHaveLength(1);
    await server.db.collection('passkeys').deleteOne({ credentialId: idOf(credentials) });
    await page.goto(shop.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.getByText('We do not know this passkey').first().waitFor();
    await page.click('a.button.primary');
    await page.click('button[value=accept]');
    await page.click('button[value=new-adult]');
    await page.click('button[value=no-passkey]');
    await page.waitForURL(at(shop));
    expect(shop.last()['code']).toMatch(/^svc_code_/);
    await visitor.close();
  });

  it('cause the message "This passkey does not work here" if they were made in the other mode', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await savePasskey(visitor, shop);
    const [credentialId] = [idOf(await visitor.passkeys())];
    await server.db.collection('passkeys').updateOne({ credentialId }, { $set: { mode: 'live' } });
    await page.goto(shop.link());
    await page.click('form.passkey:not([hidden]) button');
    await page.getByText('This passkey does not work here').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await visitor.close();
  });

  it('leave the page unchanged if the device does not verify its user', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await reachPasskeyOffer(visitor, shop);
    await visitor.setVerified(false);
    await page.click('form.passkey button');
    await page.locator('form.passkey button:not([disabled])').waitFor();
    await page.getByText('No passkey was saved.').waitFor();
    await page.click('button[value=no-passkey]');
    await page.waitForURL(at(shop));
    await visitor.close();
  });

  it('cause a message if the device has none, also on the sign-in page of the own data', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    for (const address of [shop.link(), `${server.baseUrl}/verify/you`]) {
      await page.goto(address);
      expect(await page.getByText('No passkey was used.').isVisible()).toBe(false);
      await page.click('form.passkey:not([hidden]) button');
      await page.getByText('No passkey was used.').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await visitor.close();
  });

  it('leave the focus of the keyboard at their button if the user refuses', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    // A person takes a moment to refuse.
    await page.addInitScript(`navigator.credentials.get = navigator.credentials.create = () =>
      new Promise((_done, refuse) => setTimeout(refuse, 200, new DOMException('', 'NotAllowedError')));`);
    const opened = [
      () => page.goto(shop.link()),
      () => reachPasskeyOffer(visitor, shop),
      () => page.goto(`${server.baseUrl}/verify/you`),
    ];
    for (const open of opened) {
      await open();
      await page.locator('form.passkey:not([hidden]) button').press('Enter');
      await page.locator('form.passkey [role=alert]:visible').waitFor();
      expect(await page.locator('form.passkey button:focus').count()).toBe(1);
    }
    await visitor.close();
  });

  it('lead to the present page if the session continued in another tab', async () => {
    const visitor = await withAuthenticator(browser);
    const { page } = visitor;
    await page.addInitScript(
      'const { now } = Date; let late = 0; Date.now = () => now() + (late += 100_000);',
    );
    await page.goto(shop.link());
    await page.locator('form.passkey:not([hidden])').waitFor();
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    await tab.click('button[value=accept]');
    await tab.locator('button[value=adult]').waitFor();
    await page.click('form.passkey button');
    await page.locator('button[value=adult]').waitFor();
    await visitor.close();
  });

  it('are not offered without JavaScript', async () => {
    const { page, close } = await newVisitor(browser, { javaScriptEnabled: false });
    await page.goto(shop.link());
    expect(await page.locator('form.passkey').isVisible()).toBe(false);
    await page.click('button[value=accept]');
    await page.click('button[value=new-adult]');
    await page.waitForURL(at(shop));
    expect(shop.last()['code']).toMatch(/^svc_code_/);
    await close();
  });

  it.each(languages.map((language, n) => [language, n % 2 ? 'dark' : 'light'] as const))(
    'have accessible pages in %s (%s), and the button of these pages is on the first screen of a phone',
    async (locale, colorScheme) => {
      const viewport = { width: 390, height: 844 };
      const visitor = await withAuthenticator(browser, { locale, viewport, colorScheme });
      const { page } = visitor;
      await page.goto(shop.link());
      await page.locator('form.passkey:not([hidden])').waitFor();
      const button = await page.locator('form.passkey button').boundingBox();
      await keepScreenshot(page, `consent-passkey-phone-${locale}-${colorScheme}`);
      expect((button?.y ?? 10_000) + (button?.height ?? 0)).toBeLessThanOrEqual(844);
      await reachPasskeyOffer(visitor, shop);
      await keepScreenshot(page, `save-passkey-phone-${locale}-${colorScheme}`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await visitor.close();
    },
  );
});
