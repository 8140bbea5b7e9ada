import { type Browser, devices } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { describeInBrowser, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';
import { judge } from './surroundings.ts';

const { userAgent, viewport } = devices['Pixel 7'];

describeInBrowser('verifying on a phone, with two real browsers', () => {
  const clock = manualClock();
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer({ clock }), launchBrowser()]);
    shop = await openShop(service);
  });
  afterAll(async () => {
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    await browser.close();
    await shop.close();
    await service.stop();
    expect(complaints).toEqual([]);
  });

  const atShop = (url: URL) => url.origin === shop.origin;

  async function open(javaScriptEnabled = true) {
    const computer = await newVisitor(browser, { javaScriptEnabled });
    const phone = await newVisitor(browser, { userAgent, viewport });
    visitors.push(computer, phone);
    await computer.page.goto(shop.link());
    await computer.page.getByRole('button', { name: 'Allow and continue' }).click();
    await computer.page.getByRole('button', { name: 'Continue on my phone' }).click();
    const code = (await computer.page.locator('.code').textContent()) ?? '';
    await phone.page.goto((await computer.page.locator('.handoff code').textContent()) ?? '');
    return { computer: computer.page, phone: phone.page, code };
  }

  it('the phone finishes, and the computer goes on within two seconds', async () => {
    const { computer, phone, code } = await open();
    await judge(computer, 'handoff');
    await judge(phone, 'phone-code');
    await phone.getByLabel('Code on that screen').fill('000');
    await phone.getByRole('button', { name: 'Continue' }).click();
    await judge(phone, 'phone-wrong-code', ['narrow']);
    await phone.getByLabel('Code on that screen').fill(code);
    await phone.getByRole('button', { name: 'Continue' }).click();
    await computer.getByText('Opened in Chrome on Android.').waitFor();
    await judge(computer, 'waiting');
    await phone.getByRole('button', { name: /^Adult/ }).click();
    await phone.getByRole('heading', { name: 'Is this your computer?' }).waitFor();
    await judge(phone, 'phone-confirm');
    const tapped = performance.now();
    await phone.getByRole('button', { name: 'Yes, this is my computer' }).click();
    await computer.waitForURL(atShop);
    const took = performance.now() - tapped;
    process.stdout.write(`the computer went on ${Math.round(took)} ms after the tap\n`);
    expect(shop.last()).toHaveProperty('code');
    await judge(phone, 'phone-done');
  });

  it('without scripts as well', async () => {
    const { computer, phone, code } = await open(false);
    await phone.getByLabel('Code on that screen').fill(code);
    await phone.getByRole('button', { name: 'Continue' }).click();
    await computer.getByText('Opened in Chrome on Android.').waitFor();
    await phone.getByRole('button', { name: /^Cancel/ }).click();
    await phone.getByRole('heading', { name: 'It ended here' }).waitFor();
    await computer.waitForURL(atShop);
    expect(shop.last()['error']).toBe('verification_failed');
  });

  it('a link that has run out can be had anew', async () => {
    const { computer, phone } = await open();
    clock.advance(121_000);
    await phone.reload();
    await phone.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await judge(phone, 'phone-link-dead');
    await computer.reload();
    await judge(computer, 'handoff-expired', ['light']);
    await computer.getByRole('button', { name: 'Make a new link' }).click();
    await computer.locator('.qr').waitFor();
    await computer.getByRole('button', { name: 'Continue on this computer instead' }).click();
    await computer.getByRole('heading', { name: 'Choose who to be' }).waitFor();
  });
});
