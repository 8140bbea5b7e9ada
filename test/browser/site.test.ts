import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser } from './chromium.ts';

const phone = { width: 360, height: 780 };
const desktop = { width: 1280, height: 860 };
/** Pages of each kind: with tabs, with wide tables, with tables without headings, with long code. */
const pages = [
  '/',
  '/status',
  '/docs/',
  '/docs/quickstart',
  '/docs/reference',
  '/docs/errors',
  '/docs/webhooks',
];
const operatorPages = ['/docs/operations', '/docs/configuration', '/docs/retention'];

describeInBrowser('the documentation site in a real browser', () => {
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startTestServer(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function open(path: string, options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(`${server.baseUrl}${path}`);
    return page;
  }
  const overflow = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const nameOf = (path: string) => path.replaceAll('/', ' ').trim().replaceAll(' ', '-') || 'landing';

  it.each([...pages, ...operatorPages])(
    'has the page %s, which is accessible and fits the width of a phone',
    async (path) => {
      const page = await open(path, { reducedMotion: 'reduce' });
      for (const [look, viewport, colorScheme] of [
        ['phone-dark', phone, 'dark'],
        ['desktop-light', desktop, 'light'],
      ] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityFaults(page), look).toEqual([]);
        expect(await overflow(page), look).toBe(0);
        await keepScreenshot(page, `site-${nameOf(path)}-${look}`);
      }
      await page.context().close();
    },
  );

  it('shows each copy button above the first line of its code', async () => {
    for (const path of ['/docs/recipes', '/docs/webhooks']) {
      const page = await open(path, { viewport: phone });
      const tops = await page.evaluate<[button: number, code: number][]>(`
        [...document.querySelectorAll('figure:has(.copy)')]
          .filter((figure) => figure.getClientRects().length > 0)
          .map((figure) => [
            figure.querySelector('.copy').getBoundingClientRect().bottom,
            figure.querySelector('pre code').getBoundingClientRect().top,
          ])`);
      expect(tops.length).toBeGreaterThan(2);
      expect(tops.filter(([button, code]) => button > code)).toEqual([]);
      await page.context().close();
    }
  });

  it('shows search results within the screen of a phone', async () => {
    const page = await open('/docs/', { viewport: phone });
    await page.fill('#search', 'invalid_grant');
    await page.locator('search li').first().waitFor();
    const box = await page.locator('search ol').boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(phone.width);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  });

  it('shows the state and the table of the status page without JavaScript', async () => {
    const page = await open('/status', { javaScriptEnabled: false });
    expect(await page.locator('.state').innerText()).toBe('The service works');
    expect(await page.locator('table').first().isVisible()).toBe(true);
    await page.context().close();
  });
});
