import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { describeInBrowser, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';
import { judge } from './surroundings.ts';

const minute = 60_000;
const scope = 'age_18_plus identity_verified country';

describeInBrowser('the pages in a real browser', () => {
  const clock = manualClock();
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer({ clock }), launchBrowser()]);
    shop = await openShop(service);
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
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

  async function look(name: string, open: (page: Page) => Promise<unknown>, as: BrowserContextOptions = {}) {
    const { page, complaints, close } = await newVisitor(browser, as);
    await open(page);
    await judge(page, name);
    expect(complaints).toEqual([]);
    await close();
  }

  it.each(Object.entries(pages))('%s', async (name, open) => look(name, open));

  it.each([
    ['de', 'Erlauben und weiter'],
    ['fr', 'Autoriser et continuer'],
    ['es', 'Permitir y continuar'],
    ['ar', 'السماح والمتابعة'],
  ])('in %s by Accept-Language, page after page', async (language, accept) => {
    const { page, close } = await newVisitor(browser, { locale: language });
    await page.goto(shop.link({ scope }));
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    await judge(page, `consent-${language}`, ['light', 'narrow']);
    await page.getByRole('button', { name: accept }).click();
    await judge(page, `people-${language}`, ['light', 'narrow']);
    await close();
  });

  it('ui_locales wins over the browser, and stays', async () => {
    const { page } = await newVisitor(browser, { locale: 'de' });
    await page.goto(shop.link({ uiLocales: 'ja ar' }));
    await press(page, 'accept');
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
    expect(await page.locator('html').getAttribute('lang')).toBe('ar');
  });

  it("wears the client's name and colour", async () => {
    const { clientId } = shop.partner;
    const settings = { clientId, brandName: '<b>Vins & Cie</b>', brandColor: '#ffe600' };
    await service.admin.clients.update.mutate(settings);
    await look('consent-branded', async (page) => {
      await page.goto(shop.link({ scope }));
      await page.getByRole('heading', { name: 'Share a verified answer with <b>Vins & Cie</b>?' }).waitFor();
    });
  });
});
