import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { expectReadable } from './appearance.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const minute = 60_000;
const scope = 'age_18_plus identity_verified country';
const imprint = {
  SVC_LEGAL_NAME: 'SVC Identity Services Ltd',
  SVC_PRIVACY_URL: 'https://svc.example/privacy',
  SVC_TERMS_URL: 'https://svc.example/terms',
  SVC_HELP_ADDRESS: 'help@svc.example',
};

describeInBrowser('the pages of the hosted flow in a real browser', () => {
  const clock = manualClock();
  let service: TestServer;
  let shop: Shop;
  let longNamed: Shop;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer({ clock, env: imprint }), launchBrowser()]);
    [shop, longNamed] = await Promise.all([
      openShop(service),
      openShop(service, { brandName: 'Weinhaus Grün & Söhne' }),
    ]);
    visitor = await newVisitor(browser);
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([shop.close(), longNamed.close()]);
    await service.stop();
  });

  const press = (page: Page, value: string) => page.locator(`button[value="${value}"]`).click();

  const pages: Record<string, (page: Page) => Promise<unknown>> = {
    consent: (page) => page.goto(shop.link({ scope })),
    async people(page) {
      await page.goto(shop.link({ scope }));
      await press(page, 'accept');
    },
    async ending(page) {
      await page.goto(shop.link());
      clock.advance(26 * minute);
      await page.reload();
      await page.getByText('Less than 4 minutes left').waitFor();
    },
    async finished(page) {
      await page.goto(shop.link());
      const address = page.url();
      await press(page, 'accept');
      await press(page, 'adult');
      clock.advance(11 * minute);
      await page.goto(address);
    },
    async cancelled(page) {
      await page.goto(shop.link());
      const address = page.url();
      await press(page, 'accept');
      await press(page, 'cancel');
      clock.advance(31 * minute);
      await page.goto(address);
    },
    async 'other-browser'(page) {
      await page.goto(shop.link());
      await page.context().clearCookies();
      await page.reload();
    },
    async forged(page) {
      await page.goto(shop.link());
      await page.evaluate("document.querySelector('[name=csrf]').value = 'x'");
      await press(page, 'accept');
    },
    invalid: (page) => page.goto(`${service.baseUrl}/verify/start?client_id=cli_unknown`),
    expired: (page) => page.goto(`${service.baseUrl}/verify/session/ses_0000000000000000000000`),
    'not-found': (page) => page.goto(`${service.baseUrl}/verify/nowhere`),
  };

  async function checkPage(name: string, open: (page: Page) => Promise<unknown>) {
    await open(visitor.page);
    await expectReadable(visitor.page, name);
    expect(visitor.complaints).toEqual([]);
  }

  it.each(Object.entries(pages))(
    'include "%s", which is accessible, smaller than 32 kB, and fits the width of a phone and a desktop',
    async (name, open) => checkPage(name, open),
  );

  it.each([
    ['de', 'Erlauben und weiter'],
    ['fr', 'Autoriser et continuer'],
    ['es', 'Permitir y continuar'],
    ['ar', 'السماح والمتابعة'],
  ])('are in the language %s if the browser requests it', async (language, accept) => {
    const { page, close } = await newVisitor(browser, { locale: language });
    await page.goto(shop.link({ scope }));
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    await expectReadable(page, `consent-${language}`, ['narrow']);
    await page.getByRole('button', { name: accept }).click();
    await expectReadable(page, `people-${language}`, ['narrow']);
    await close();
  });

  it.each(['en', 'de', 'fr', 'es', 'ar'])(
    'show the buttons of the consent page in %s on the first screen of a phone',
    async (language) => {
      const { page, close } = await newVisitor(browser, {
        locale: language,
        viewport: { width: 390, height: 844 },
      });
      await page.goto(longNamed.link({ scope }));
      const decline = await page.locator('button[value="decline"]').boundingBox();
      await keepScreenshot(page, `consent-phone-${language}`);
      expect((decline?.y ?? 10_000) + (decline?.height ?? 0)).toBeLessThanOrEqual(844);
      await close();
    },
  );

  it("are in the language of ui_locales in place of the browser's language, also after consent", async () => {
    const { page, close } = await newVisitor(browser, { locale: 'de' });
    await page.goto(shop.link({ uiLocales: 'ja ar' }));
    await press(page, 'accept');
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
    expect(await page.locator('html').getAttribute('lang')).toBe('ar');
    await close();
  });

  it('change their language by a link until the end of the flow, with the keyboard and without JavaScript', async () => {
    const { page, complaints, close } = await newVisitor(browser, { javaScriptEnabled: false });
    await page.goto(shop.link({ uiLocales: 'fr' }));
    const address = page.url();
    await page.locator('.languages summary').focus();
    await page.keyboard.press('Enter');
    await page.locator('.languages').getByRole('link', { name: 'العربية' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(address);
    await page.locator('html[lang=ar][dir=rtl]').waitFor();
    await press(page, 'accept');
    await page.locator('html[lang=ar] button[value=adult]').waitFor();
    expect(page.url()).toBe(address);
    await press(page, 'adult');
    await page.waitForURL((url) => url.origin === shop.origin);
    expect(shop.last()).toHaveProperty('code');
    expect(complaints).toEqual([]);
    await close();
  });

  it('have an accessible list of languages on wide and narrow screens', () =>
    checkPage('languages', async (page) => {
      await page.goto(shop.link());
      await page.locator('.languages summary').click();
      await page.getByRole('link', { name: 'Deutsch' }).waitFor();
    }));

  it("show the partner's logo undistorted if it is wide or high", async () => {
    for (const [shape, width, height] of [
      ['wide', 300, 100],
      ['high', 40, 120],
    ] as const) {
      const image = new PNG({ width, height });
      for (let at = 0; at < image.data.length; at += 4)
        image.data.set([23, 89, 74, (at / 4) % width > width / 4 ? 255 : 0], at);
      const { partnerId } = shop.partner;
      await service.admin.partners.setLogo.mutate({
        partnerId,
        image: PNG.sync.write(image).toString('base64'),
      });
      await checkPage(`consent-logo-${shape}`, async (page) => {
        await page.goto(shop.link({ scope }));
        const drawn =
          "(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])(document.querySelector('.logo'))";
        expect(await page.evaluate(drawn)).toEqual([width, height]);
      });
    }
    await service.admin.partners.removeLogo.mutate({ partnerId: shop.partner.partnerId });
  });

  it("show the client's name, colour and purpose, with HTML escaped", async () => {
    const { clientId } = shop.partner;
    const purpose = 'לבדוק <18> & "גיל"';
    const privacyUrl = 'https://shop.example/privacy';
    const settings = { clientId, brandName: '<b>Vins & Cie</b>', brandColor: '#ffe600', purpose, privacyUrl };
    await service.admin.clients.update.mutate(settings);
    await checkPage('consent-branded', async (page) => {
      await page.goto(shop.link({ scope }));
      await page.getByRole('heading', { name: 'Share a verified answer with <b>Vins & Cie</b>?' }).waitFor();
      // The operator's name for the partner stands beside the brand.
      await page.getByText(/^<b>Vins & Cie<\/b> \(.+\)$/).waitFor();
      expect(await page.locator('blockquote').textContent()).toBe(purpose);
    });
  });
});
