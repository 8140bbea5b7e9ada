import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { describeInBrowser, launchBrowser, newVisitor, type Visitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const clock = manualClock();
const minute = 60_000;

describeInBrowser('the hosted flow in a real browser', () => {
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;
  /** A user whose browser most tests share. Each test starts a new session in it. */
  let regular: Visitor;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestServer({ clock }), launchBrowser()]);
    shop = await openShop(service);
    regular = await visitor();
  });
  afterAll(async () => {
    // Each error in the console of a page fails the test.
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    await browser.close();
    await shop.close();
    await service.stop();
    expect(complaints).toEqual([]);
  });

  async function visitor(): Promise<Visitor> {
    const opened = await newVisitor(browser);
    visitors.push(opened);
    return opened;
  }

  async function startSession({ page } = regular) {
    await page.goto(shop.link());
    return page;
  }

  async function reachPeople() {
    const page = await startSession();
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    return page;
  }

  /** Opens a session in two tabs, and allows sharing in the first one. The second tab still shows the consent page. */
  async function allowWithSecondTab() {
    const page = await startSession();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    return { page, second };
  }

  const atShop = (url: URL) => url.origin === shop.origin;

  it.each([
    ['Adult', 'code'],
    ['Teen', 'code'],
    ['New adult', 'code'],
    ['Young adult', 'code'],
    ['Child', 'code'],
    ['From abroad', 'code'],
    ['Unknown country', 'code'],
    ['Age only', 'code'],
    ['Document and face', 'code'],
    ['Nothing known', 'code'],
    ['Duplicate', 'code'],
    ['Inactive client', 'code'],
    ['Low balance', 'code'],
    ['Minute cap', 'code'],
    ['Hour cap', 'code'],
    ['Unavailable', 'code'],
    ['Rejected', 'verification_failed'],
    ['Source down', 'verification_failed'],
  ])('redirects the sandbox user "%s" to the partner with %s', async (person, result) => {
    const page = await reachPeople();
    await page.getByRole('button', { name: new RegExp(`^${person}`) }).click();
    await page.waitForURL(atShop);
    const { code, error, iss } = shop.last();
    expect(error ?? (code && 'code')).toBe(result);
    expect(iss).toBe(service.baseUrl);
  });

  it('sends no request to a third party', async () => {
    const { page, asked } = await visitor();
    await page.goto(shop.link());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('button', { name: 'Adult' }).first().click();
    await page.waitForURL(atShop);
    expect([...asked].sort()).toEqual([service.baseUrl, shop.origin].sort());
  });

  it('redirects to the partner after a decline or a cancel, and again after the back button', async () => {
    const page = await startSession();
    await page.getByRole('button', { name: 'Don’t allow' }).click();
    await page.waitForURL(atShop);
    expect(shop.last()['error']).toBe('access_denied');
    const returnsBefore = shop.returns();
    await page.goBack();
    await expect.poll(() => shop.returns()).toBe(returnsBefore + 1);
    expect(shop.last()['error']).toBe('access_denied');

    const other = await reachPeople();
    await other.getByRole('button', { name: /^Cancel/ }).click();
    await other.waitForURL(atShop);
    expect(shop.last()['error']).toBe('verification_failed');
  });

  it('shows the page after consent again if the user presses the back button', async () => {
    const page = await reachPeople();
    await page.goBack();
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    await page.getByRole('button', { name: 'Adult' }).first().click();
    await page.waitForURL(atShop);
    expect(shop.last()['code']).toBeDefined();
  });

  it('returns to the partner once, with a code, after double clicks on the buttons', async () => {
    const page = await startSession();
    await page.getByRole('button', { name: 'Allow and continue' }).dblclick();
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    const returnsBefore = shop.returns();
    await page.getByRole('button', { name: 'Adult' }).first().dblclick({ noWaitAfter: true });
    await page.waitForURL(atShop);
    expect(shop.returns()).toBe(returnsBefore + 1);
    expect(shop.last()['code']).toBeDefined();
  });

  it('shows the present step of the session in a second tab that sends the form of an earlier step', async () => {
    const { page, second } = await allowWithSecondTab();
    await second.getByRole('button', { name: 'Allow and continue' }).click();
    await second.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    await second.getByRole('button', { name: 'Adult' }).first().click();
    await second.waitForURL(atShop);
    const { code } = shop.last();
    await page.getByRole('button', { name: 'Teen' }).click();
    await page.waitForURL(atShop);
    expect(shop.last()['code']).toBe(code);
  });

  it('ends the session if a second tab refuses in the form of an earlier step', async () => {
    const { page, second } = await allowWithSecondTab();
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    await second.getByRole('button', { name: 'Don’t allow' }).click();
    await second.waitForURL(atShop);
    expect(shop.last()).toMatchObject({ error: 'access_denied' });
    await page.getByRole('button', { name: 'Adult' }).first().click();
    await page.waitForURL(atShop);
    expect(shop.last()['code']).toBeUndefined();
  });

  it('shows "Continue in the browser where you started" in another browser, and continues in the first one', async () => {
    const page = await startSession();
    const { page: foreign } = await visitor();
    await foreign.goto(page.url());
    await foreign.getByRole('heading', { name: 'Continue in the browser where you started' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
  });

  it("reaches a page of another origin if the partner's callback redirects there", async () => {
    const elsewhere = shop.origin.replace('localhost', '127.0.0.1');
    shop.leadOn(`${elsewhere}/welcome`);
    const page = await reachPeople();
    await page.getByRole('button', { name: /^Adult/ }).click();
    await page.waitForURL(`${elsewhere}/welcome`);
    shop.leadOn(undefined);
  });

  it('ends with a code if the user presses only Tab and Enter', async () => {
    const page = await startSession();
    const focus = (text: string) => page.locator(':focus', { hasText: text });
    for (let presses = 0; presses < 20 && (await focus('Allow and continue').count()) === 0; presses += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Choose who to be' }).waitFor();
    for (let presses = 0; presses < 20 && (await focus('Adult').count()) === 0; presses += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(atShop);
    expect(shop.last()['code']).toBeDefined();
  });

  it('ends with a code if the browser runs no JavaScript', async () => {
    const { page } = await newVisitor(browser, { javaScriptEnabled: false });
    await page.goto(shop.link());
    await page.getByRole('button', { name: 'Allow and continue' }).click();
    await page.getByRole('button', { name: 'Adult' }).first().click();
    await page.waitForURL(atShop);
    expect(shop.last()['code']).toBeDefined();
  });

  it('returns to the partner with session_expired after 31 minutes', async () => {
    const page = await reachPeople();
    clock.advance(31 * minute);
    await page.getByRole('button', { name: 'Adult' }).first().click();
    await page.waitForURL(atShop);
    expect(shop.last()['error']).toBe('session_expired');
  });
});
