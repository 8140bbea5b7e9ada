import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testWalletSources } from '../../contracts/wallet-sources.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { judge } from './appearance.ts';
import { describeInBrowser, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

describeInBrowser('European wallets in a real browser', () => {
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

  const atShop = (url: URL) => url.origin === shop.origin;
  const openWallet = (page: Page) => page.getByRole('link', { name: 'Open the test wallet' }).click();

  async function begin(source: string): Promise<{ page: Page; complaints: string[] }> {
    await service.admin.clients.update.mutate({ clientId: shop.partner.clientId, source });
    const visitor = await newVisitor(browser);
    await visitor.page.goto(shop.link());
    await visitor.page.getByRole('button', { name: 'Allow and continue' }).click();
    return visitor;
  }

  it.each(testWalletSources.map(({ name }) => name))('%s verifies on this device', async (source) => {
    const { page, complaints } = await begin(source);
    await judge(page, `${source} asks`);
    await openWallet(page);
    await judge(page, `${source} shows`);
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('You said no in your wallet.').waitFor();
    await judge(page, `${source} declined`);
    await openWallet(page);
    await page.getByRole('button', { name: 'Present', exact: true }).click();
    await page.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
    expect(complaints).toEqual([]);
  });

  it.each(testWalletSources.map(({ name }) => name))('%s verifies on a phone', async (source) => {
    const { page: computer } = await begin(source);
    await computer.getByRole('button', { name: 'Continue on my phone' }).click();
    const textOf = async (selector: string) =>
      ((await computer.locator(selector).textContent()) ?? '').replaceAll(/\s/g, '');
    const [code, link] = [await textOf('p.code'), await textOf('.address code')];
    const { page: phone } = await newVisitor(browser);
    await phone.goto(link);
    await phone.locator('#code').fill(code);
    await phone.locator('form.typed button').click();
    await openWallet(phone);
    await phone.getByRole('button', { name: 'Present', exact: true }).click();
    await phone.getByRole('button', { name: 'Yes, this is my computer' }).click();
    await computer.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
  });
});
