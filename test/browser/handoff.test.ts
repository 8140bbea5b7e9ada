import { type Browser, devices } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { expectReadable } from './appearance.ts';
import { describeInBrowser, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const { userAgent, viewport } = devices['Pixel 7'];

describeInBrowser('a hand-off to a phone in two real browsers', () => {
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

  it('focuses the code on a small screen after a wrong one, and shows the error above it', async () => {
    const { phone } = await open();
    await phone.setViewportSize({ width: 390, height: 700 });
    await phone.getByLabel('Code on that screen').fill('000');
    await phone.getByRole('button', { name: 'Continue' }).click();
    const error = phone.getByText('That is not the code.');
    const field = phone.getByLabel('Code on that screen');
    await phone.locator('input[name=code]:focus').waitFor();
    const [shown, typed] = [await error.boundingBox(), await field.boundingBox()];
    expect(shown?.y).toBeGreaterThanOrEqual(0);
    expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual(typed?.y ?? 0);
    expect((typed?.y ?? 0) + (typed?.height ?? 0)).toBeLessThanOrEqual(700);
  });

  it('is completed at the phone, and the computer then returns to the partner without a reload', async () => {
    const { computer, phone, code } = await open();
    await expectReadable(computer, 'handoff-localhost');
    expect(await computer.locator('.qr').count()).toBe(0);
    await computer.getByText('a phone cannot open its address').waitFor();
    await expectReadable(phone, 'phone-code');
    await phone.getByLabel('Code on that screen').fill('000');
    await phone.getByRole('button', { name: 'Continue' }).click();
    await expectReadable(phone, 'phone-wrong-code', ['narrow']);
    await phone.getByLabel('Code on that screen').fill(code);
    await phone.getByRole('button', { name: 'Continue' }).click();
    await computer.getByText('Opened in Chrome on Android.').waitFor();
    await expectReadable(computer, 'waiting');
    await phone.getByRole('button', { name: /^Adult/ }).click();
    await phone.getByRole('heading', { name: 'Is this your computer?' }).waitFor();
    await expectReadable(phone, 'phone-confirm');
    const tapped = performance.now();
    await phone.getByRole('button', { name: 'Yes, this is my computer' }).click();
    await computer.waitForURL(atShop);
    const took = performance.now() - tapped;
    process.stdout.write(`the computer went on ${Math.round(took)} ms after the tap\n`);
    expect(shop.last()).toHaveProperty('code');
    await expectReadable(phone, 'phone-done');
  });

  it('returns the computer to the partner after a cancel on the phone, although the computer runs no JavaScript', async () => {
    const { computer, phone, code } = await open(false);
    await phone.getByLabel('Code on that screen').fill(code);
    await phone.getByRole('button', { name: 'Continue' }).click();
    await computer.getByText('Opened in Chrome on Android.').waitFor();
    await phone.getByRole('button', { name: /^Cancel/ }).click();
    await phone.getByRole('heading', { name: 'This verification has ended' }).waitFor();
    await computer.waitForURL(atShop);
    expect(shop.last()['error']).toBe('verification_failed');
  });

  it('shows an expired link as invalid, and the computer can make a new one or continue alone', async () => {
    const { computer, phone } = await open();
    clock.advance(121_000);
    await phone.reload();
    await phone.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await expectReadable(phone, 'phone-link-dead');
    await computer.reload();
    await expectReadable(computer, 'handoff-expired', ['light']);
    await computer.getByRole('button', { name: 'Make a new link' }).click();
    await computer.getByRole('heading', { name: 'Continue on your phone' }).waitFor();
    await computer.getByRole('button', { name: 'Continue on this computer instead' }).click();
    await computer.getByRole('heading', { name: 'Choose who to be' }).waitFor();
  });
});

describeInBrowser('the hand-off of a service with a public address', () => {
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;

  beforeAll(async () => {
    const port = await freePort();
    const env = { SVC_PORT: String(port), SVC_BASE_URL: `http://verify.test:${port}` };
    [service, browser] = await Promise.all([
      startTestServer({ env }),
      launchBrowser([
        '--host-resolver-rules=MAP verify.test 127.0.0.1',
        `--unsafely-treat-insecure-origin-as-secure=${env.SVC_BASE_URL}`,
      ]),
    ]);
    shop = await openShop(service);
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
    await service.stop();
  });

  /** Returns a script that measures the left and right edges of an element's text. */
  const edges = (selector: string) => `(() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector(${JSON.stringify(selector)}));
    const { left, right } = range.getBoundingClientRect();
    return { left, right };
  })()`;

  it.each([
    ['en', 'left'],
    ['ar', 'right'],
  ] as const)(
    'shows a QR code, and in the language %s a code whose digits begin at the %s edge',
    async (language, side) => {
      const { page, complaints, close } = await newVisitor(browser, { locale: language });
      await page.goto(shop.link());
      await page.locator('button[value=accept]').click();
      await page.locator('button[value=phone]').click();
      await page.locator('.qr').waitFor();
      await expectReadable(page, `handoff-${language}`);
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const digits = await page.evaluate<Record<'left' | 'right', number>>(edges('.handoff .code'));
        const list = await page.evaluate<Record<'left' | 'right', number>>(edges('.handoff .secret'));
        expect(Math.abs(digits[side] - list[side]), `${width} px`).toBeLessThan(6);
      }
      expect(complaints).toEqual([]);
      await close();
    },
  );
});
