import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import type { TestServer } from '../harness/server.ts';
import { startHostileProvider } from '../sessions/sources/hostile-provider.ts';
import { startWithSources } from '../sessions/sources/oidc-site.ts';
import { clientId, clientSecret, startProvider } from '../sessions/sources/provider.ts';
import { expectReadable } from './appearance.ts';
import { describeInBrowser, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

describeInBrowser('verification sources in a real browser', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let strict: Awaited<ReturnType<typeof startHostileProvider>>;
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;
  let visitor: Visitor;

  beforeAll(async () => {
    const port = await freePort();
    [provider, strict, browser] = await Promise.all([
      startProvider(`http://localhost:${port}/verify/callback/bank-id`),
      startHostileProvider(),
      launchBrowser(),
    ]);
    strict.behave({ strictForm: true });
    service = await startWithSources(port, [
      { name: 'bank-id', label: 'Example Bank ID', issuer: provider.issuer, clientId, clientSecret },
      { name: 'strict', issuer: strict.issuer },
      { name: 'away', issuer: 'http://localhost:1' },
    ]);
    shop = await openShop(service, { sources: ['bank-id'] });
    visitor = await newVisitor(browser);
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
    await service.stop();
    await Promise.all([provider.close(), strict.close()]);
  });

  const useSource = (source: string) =>
    service.admin.clients.update.mutate({ clientId: shop.partner.clientId, sources: [source] });
  const atShop = (url: URL) => url.origin === shop.origin;

  it('an OpenID provider verifies a user, who returns to the partner with a code', async () => {
    const { page, complaints } = visitor;
    await page.goto(shop.link());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await expectReadable(page, 'provider');
    await page.getByRole('link', { name: 'Continue to Example Bank ID' }).click();
    await page.locator('input[name="login"]').fill('adult');
    await page.locator('input[name="password"]').fill('x');
    await page.locator('button[type="submit"]').click();
    await page.locator('button[type="submit"]').click();
    await page.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
    // The provider's own pages request fonts from other hosts.
    expect(complaints.filter((text) => text.includes(service.baseUrl))).toEqual([]);
  });

  it.each(['en', 'de', 'fr', 'es', 'ar'])(
    'the list of methods in %s is accessible, and is shown again after a method failed',
    async (locale) => {
      const where = locale === 'en' ? undefined : ['narrow-dark'];
      const { clientId: id } = shop.partner;
      const sources = ['bank-id', 'test-wallet-age', 'away', 'sandbox'];
      await service.admin.clients.update.mutate({ clientId: id, sources });
      const { page, complaints, close } = await newVisitor(browser, { locale });
      await page.goto(shop.link());
      await page.locator('button[value="accept"]').click();
      await expectReadable(page, `methods-${locale}`, where);
      await page.locator('button[value="away"]').click();
      await expectReadable(page, `methods-down-${locale}`, where);
      expect(await page.locator('button[name="method"]').last().getAttribute('value')).toBe('away');
      await page.locator('button[value="sandbox"]').click();
      await page.locator('button[value="rejected"]').click();
      await expectReadable(page, `methods-failed-${locale}`, where);
      await page.locator('button[value="test-wallet-age"]').click();
      await page.locator('button[value="other-method"]').click();
      await page.locator('button[value="bank-id"]').click();
      await page.locator('button[value="other-method"]').waitFor();
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('a provider with a strict form policy returns the user to the partner by a page with a link', async () => {
    await useSource('strict');
    const { page } = visitor;
    await page.goto(shop.link());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('link', { name: 'Continue to The strict' }).click();
    // The answer without content keeps the browser on the page of the service.
    await page.route(`${shop.origin}/**`, (route) => route.fulfill({ status: 204 }));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You are on your way back to Acme Cinema.').waitFor();
    await expectReadable(page, 'leaving');
    await page.unroute(`${shop.origin}/**`);
    await page.getByRole('link', { name: 'Continue to Acme Cinema' }).click();
    await page.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
  });

  it('a page reports that a provider cannot be reached, and the user can cancel', async () => {
    await useSource('away');
    const { page } = visitor;
    await page.goto(shop.link());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await expectReadable(page, 'source-down');
    await page.getByRole('button', { name: /^Cancel/ }).click();
    await page.waitForURL(atShop);
    expect(shop.last()['error']).toBe('verification_failed');
  });
});
