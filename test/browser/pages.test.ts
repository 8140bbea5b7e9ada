import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const everyClaim = 'age_18_plus identity_verified country';
/** The same page again without loading it: what the style sheets make of each. */
const surroundings = [
  { name: 'light', width: 1280, colorScheme: 'light' },
  { name: 'dark', width: 1280, colorScheme: 'dark' },
  { name: 'narrow', width: 320, colorScheme: 'light' },
  { name: 'narrow-dark', width: 320, colorScheme: 'dark' },
] as const;

describeInBrowser('the pages in a real browser', () => {
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer(), launchBrowser()]);
    shop = await openShop(service);
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
    await service.stop();
  });

  const pages: Record<string, (page: Page) => Promise<unknown>> = {
    consent: (page) => page.goto(shop.link({ scope: everyClaim })),
    async people(page) {
      await page.goto(shop.link({ scope: everyClaim }));
      await page.getByRole('button', { name: 'Allow and continue' }).click();
    },
    invalid: (page) => page.goto(`${service.baseUrl}/verify/start?client_id=cli_unknown`),
    expired: (page) => page.goto(`${service.baseUrl}/verify/session/ses_0000000000000000000000`),
    'not-found': (page) => page.goto(`${service.baseUrl}/verify/nowhere`),
  };

  it.each(Object.entries(pages))('%s: axe finds nothing, nothing overflows', async (name, open) => {
    const { page, complaints, close } = await newVisitor(browser);
    await open(page);
    for (const { name: where, width, colorScheme } of surroundings) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await keepScreenshot(page, `${name}-${where}`);
      expect(await accessibilityFaults(page), where).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), where).toBe(true);
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
