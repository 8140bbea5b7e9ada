import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../server/demo/demo.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { freePort } from '../harness/free-port.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor } from './chromium.ts';

describeInBrowser('the demo partner in a real browser', () => {
  let service: TestServer;
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer(), launchBrowser()]);
    const { baseUrl, admin, dataDir } = service;
    const logger = createLogger('silent');
    demo = await startDemo({ port: await freePort(), baseUrl, admin, dataDir, logger });
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
    await service.stop();
  });

  it('verifies a visitor in three clicks, shows the events without a reload, and is accessible', async () => {
    const { page, complaints } = await newVisitor(browser);
    await page.goto(demo.url);
    await keepScreenshot(page, 'demo-home');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Verify my age' }).click();
    await page.getByRole('heading', { name: 'Share a verified answer with Corner Cellar?' }).waitFor();
    await keepScreenshot(page, 'demo-consent');
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('button', { name: /^Adult/ }).click();
    await page.getByRole('heading', { name: 'Welcome: you are 18 or older' }).waitFor();
    await page.getByText('enrollment.created').first().waitFor();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await page.getByText('The revoked token is refused').waitFor();
    await page.getByText('verification.session.completed').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await keepScreenshot(page, `demo-result-${colorScheme}`);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('has an accessible error page with a link back to the shop', async () => {
    const { page, complaints, close } = await newVisitor(browser);
    await page.goto(`${demo.url}/callback?code=x&state=x`);
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [320, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 640 });
      await keepScreenshot(page, `demo-problem-${width}`);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.getByRole('button', { name: 'Verify my age' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
