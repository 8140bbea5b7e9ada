import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { actOnDevices, createDevice } from '../console/portal/device/device-harness.ts';
import { type SignedInMember, signedIn } from '../console/portal/signed-in.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { startReceiver } from '../harness/receiver.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, keepScreenshot, launchBrowser, newVisitor } from './chromium.ts';
import { withAuthenticator } from './with-passkeys.ts';

let server: TestServer;
let browser: Browser;
let partner: TestPartner;
let owner: SignedInMember;
let records: string[];

describeInBrowser('the portal', () => {
  beforeAll(async () => {
    const env = { SVC_PORTAL: 'on', SVC_LOCALHOST_WEBHOOKS: 'on' };
    [server, browser] = await Promise.all([startTestServer({ env }), launchBrowser()]);
    partner = await createPartner(server);
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hooks' });
    await exchangeCode(server, partner, await completeSession(server, partner));
    owner = await signedIn(server, partner.partnerId, 'owner');
    for (const one of [owner, await signedIn(server, partner.partnerId, 'developer')]) {
      const { user_code: code, device_code: deviceCode } = await createDevice(server).start();
      await actOnDevices(one.browser, 'confirm', { code });
      await createDevice(server).poll(deviceCode);
    }
    records = await recordPages();
  }, within(60_000));
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it('lets a member create a passkey with an invitation, sign out, sign in with it, and put a second one in its place', async () => {
    const wanted = { partnerId: partner.partnerId, email: 'zoe@shop.example', role: 'finance' } as const;
    const { link } = await server.admin.members.invite.mutate(wanted);
    const { page, complaints, close } = await newVisitor(browser);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const addAuthenticator = () =>
      devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
          ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
        },
      });
    const first = await addAuthenticator();
    await page.goto(link);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    expect(await page.textContent('header')).toContain('zoe@shop.example');
    await page.click('header form[method=post] button');
    await page.waitForURL(/\/portal\/sign-in$/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    await page.click('nav a[href$="/passkeys"]');
    await page.fill('input[name=name]', 'Phone');
    await page.press('input[name=name]', 'Enter');
    await page.getByText('This device has one of your passkeys already').waitFor();
    expect(await page.inputValue('input[name=name]')).toBe('Phone');
    expect(await accessibilityFaults(page)).toEqual([]);
    // A person takes a moment to answer. The keyboard then goes on at the button.
    await page.evaluate(`navigator.credentials.create = () =>
      new Promise((_done, refuse) => setTimeout(refuse, 200, new DOMException('', 'InvalidStateError')))`);
    const add = page.locator('form[data-passkey] button');
    await add.press('Enter');
    await page.locator('form[data-passkey] button:disabled').waitFor();
    await page.locator('form[data-passkey] button:enabled').waitFor();
    expect(await add.evaluate((button) => button.matches(':focus'))).toBe(true);
    await page.evaluate('delete navigator.credentials.create');
    await devtools.send('WebAuthn.removeVirtualAuthenticator', first);
    await addAuthenticator();
    await page.press('input[name=name]', 'Enter');
    await page.waitForURL(/\/portal\/passkeys\?done$/);
    expect(await page.locator('main h2').allTextContents()).toContain('Phone');
    expect(await accessibilityFaults(page)).toEqual([]);
    // The first passkey has signed in, so its removal leads to the sign-in page.
    await page.locator('main button.danger').first().press('Enter');
    await page.getByText('You have signed in with this one.').waitFor();
    await page.locator('main button.danger').press('Enter');
    await page.waitForURL(/\/portal\/sign-in\?/);
    await page.click('main button');
    await page.waitForURL(/\/portal\/passkeys$/);
    expect(complaints).toEqual([]);
    await close();
  });

  it('does no act twice by a reload or a double click, and fills in a form again whose session has ended', async () => {
    const wanted = { partnerId: partner.partnerId, email: 'dana@shop.example', role: 'developer' } as const;
    const { link } = await server.admin.members.invite.mutate(wanted);
    const { page, close } = await withAuthenticator(browser);
    await page.goto(link);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    const keys = async () => (await server.admin.keys.list.query({ partnerId: partner.partnerId })).length;
    const before = await keys();
    await page.goto(`${server.baseUrl}/portal/keys`);
    await page.locator('form:has(input[value=create]) button').dblclick();
    await page.locator('.done pre').first().waitFor();
    await page.reload();
    expect(await page.locator('.done').count()).toBe(0);
    expect(await keys()).toBe(before + 1);
    await page.goto(`${server.baseUrl}/portal/clients?status=active`);
    const form = page.locator('form:has(input[value=create])');
    await form.locator('[name=name]').fill('Typed before');
    await form.locator('[name=redirectUris]').fill('http://localhost:3000/typed');
    await form.locator('[name=claim_country]').check();
    await page.context().clearCookies({ name: 'svc_portal' });
    await form.locator('button').click();
    await page.waitForURL(/\/sign-in\?/);
    await page.click('main button');
    await page.waitForURL(/\/portal\/clients\?status=active$/);
    expect(await form.locator('[name=name]').inputValue()).toBe('Typed before');
    expect(await form.locator('[name=redirectUris]').inputValue()).toBe('http://localhost:3000/typed');
    expect(await form.locator('[name=claim_country]').isChecked()).toBe(true);
    await form.locator('button').click();
    await page.locator('.done pre').first().waitFor();
    await page.goto(`${server.baseUrl}/portal/clients`);
    expect(await form.locator('[name=name]').inputValue()).toBe('');
    // This form has two buttons.
    await page.goto(`${server.baseUrl}/portal/clients/${partner.clientId}`);
    const branding = page.locator('form:has([name=brandName])');
    await branding.locator('[name=purpose]').fill('Typed before');
    await page.context().clearCookies({ name: 'svc_portal' });
    await branding.locator('button').first().click();
    await page.waitForURL(/\/sign-in\?/);
    await page.click('main button');
    await page.waitForURL(/\/portal\/clients\/cli_\w+$/);
    expect(await branding.locator('[name=purpose]').inputValue()).toBe('Typed before');
    await close();
  });

  it.each([
    ['a form', 'after the member stopped its answer', { isStopped: true, isSignIn: false }],
    ['a form', 'after the member came back to its page', { isStopped: false, isSignIn: false }],
    ['the passkey form', 'after the member stopped its answer', { isStopped: true, isSignIn: true }],
    ['the passkey form', 'after the member came back to its page', { isStopped: false, isSignIn: true }],
  ])('sends %s again %s, and only then', async (_form, _when, { isStopped, isSignIn }) => {
    const email = `again-${isStopped}-${isSignIn}@shop.example`;
    const wanted = { partnerId: partner.partnerId, email, role: 'developer' } as const;
    const { page, close } = await withAuthenticator(browser);
    const devtools = await page.context().newCDPSession(page);
    await page.goto((await server.admin.members.invite.mutate(wanted)).link);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    if (isSignIn) await page.context().clearCookies({ name: 'svc_portal' });
    const path = isSignIn ? 'sign-in' : 'keys';
    await page.goto(`${server.baseUrl}/portal/${path}`);
    const posts: Route[] = [];
    await page.route(`**/portal/${path}`, (route) =>
      route.request().method() === 'POST' ? void posts.push(route) : route.continue(),
    );
    const button = page.locator('form:has(input[value=create]) button, form[data-passkey] button');
    const { x = 0, y = 0 } = (await button.boundingBox()) ?? {};
    // The browser runs no script for the debugger while it waits for an answer, so the mouse is used.
    const press = () => page.mouse.click(x + 5, y + 5);
    await press();
    await expect.poll(() => posts.length).toBe(1);
    // Nothing tells the page of an answer without content, as nothing told it that a member came back.
    if (!isStopped) await posts[0]?.fulfill({ status: 204 });
    await press();
    if (isStopped) await devtools.send('Page.stopLoading');
    else
      await page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    expect(posts).toHaveLength(1);
    // The page gets to know a moment after the browser has stopped.
    const pressAgain = () => press().then(() => posts.length);
    await expect.poll(pressAgain).toBe(2);
    await posts[1]?.continue();
    await page
      .locator(isSignIn ? 'header .who' : '.done pre')
      .first()
      .waitFor();
    expect(posts).toHaveLength(2);
    await close();
  });

  /** Creates records. @returns the paths of their pages, and of the page of an unknown record */
  async function recordPages(): Promise<string[]> {
    const { partnerId, keyId, clientId } = partner;
    const [delivery] = await server.admin.deliveries.list.query({ partnerId });
    const [session] = (await server.admin.sessions.list.query({ partnerId })).rows;
    const refused = await exchangeCode(
      server,
      { ...partner, clientSecret: 'wrong' },
      await completeSession(server, partner),
    );
    const requestId = refused.headers.get('x-request-id') ?? '';
    const logged = async () => expect((await owner.browser.open(`/requests/${requestId}`)).status).toBe(200);
    await vi.waitFor(logged, { timeout: within(15_000), interval: 250 });
    // Another URL, because events whose delivery to the webhook URL is pending are left out.
    const { job } = await server.admin.bulk.start.mutate({
      action: 'replay',
      filter: { partnerId, keyId, since: new Date(Date.now() - 3_600_000).toISOString() },
      to: 'http://localhost:9/again',
    });
    const { entries } = await server.admin.wallets.statement.query({ partnerId, mode: 'test' });
    const shop = await server.admin.clients.create.mutate({
      ...{ partnerId, keyId, name: 'Shop', kind: 'storefront', claims: ['age_18_plus'] },
      redirectUris: ['http://localhost:9999/shop'],
    });
    const of = { partnerId, clientId: shop.id, shops: ['shop.example'] };
    const integration = await server.admin.integrations.create.mutate(of);
    const found = [`/members/${owner.id}`, `/clients/${clientId}`, `/webhooks/${keyId}`, `/keys/${keyId}`];
    return [
      ...found,
      ...[`/deliveries/${delivery?.id}`, `/users/${session?.enrollmentId}`, `/sessions/${session?.id}`],
      ...[`/requests/${requestId}`, `/bulk/${job?.id}`, `/integrations/${integration.id}`],
      ...[`/wallet/entries/${entries.find(({ sessionId }) => sessionId !== null)?.id}`, '/nothing'],
    ];
  }

  it('shows local times beside UTC and copies an id, by a script; the search by an id opens the record', async () => {
    const { page, complaints, close } = await newVisitor(browser, {
      ...{ timezoneId: 'Asia/Tokyo', locale: 'en', permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const cookies = [...owner.browser.cookies].map(([name, value]) => ({ name, value, url: server.baseUrl }));
    await page.context().addCookies(cookies);
    await page.goto(`${server.baseUrl}/portal/`);
    await page.fill('#find', partner.clientId);
    await page.press('#find', 'Enter');
    await page.waitForURL(new RegExp(`/clients/${partner.clientId}$`));
    const time = page.locator('time[datetime]').first();
    const [utc, at] = [await time.textContent(), await time.getAttribute('datetime')];
    expect(utc).toBe(at?.slice(0, 19).replace('T', ' '));
    expect(await page.locator('time[datetime] + small').first().textContent()).toContain('GMT+9');
    const copy = page.locator('dd', { hasText: partner.keyId }).locator('button.copy');
    await copy.click();
    await expect.poll(() => copy.textContent()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(partner.keyId);
    // A screen reader says it, because the place is a status.
    expect(await page.locator('main > p.unseen[role=status]').textContent()).toBe(`Copied: ${partner.keyId}`);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('lets the keyboard skip the menu, by the first stop, which is seen only there', async () => {
    const { page, close } = await newVisitor(browser, {
      viewport: { width: 390, height: 844 },
      locale: 'ar',
    });
    const cookies = [...owner.browser.cookies].map(([name, value]) => ({ name, value, url: server.baseUrl }));
    await page.context().addCookies(cookies);
    await page.goto(`${server.baseUrl}/portal/sessions`);
    const skip = page.locator('a.skip');
    const width = async () => (await skip.boundingBox())?.width ?? 0;
    expect(await width()).toBeLessThan(2);
    await page.keyboard.press('Tab');
    expect(await skip.evaluate((link) => link.matches(':focus'))).toBe(true);
    expect(await width()).toBeGreaterThan(50);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator('main :focus').count()).toBe(1);
    // An address with a fragment would have the focus there, and not at what the search has found.
    await page.fill('input[name=reference]', 'order-1');
    await page.press('input[name=reference]', 'Enter');
    await page.waitForURL(/reference=order-1/);
    expect(await page.locator(':focus').getAttribute('role')).toBe('status');
    await close();
  });

  it('loads a page again that waits for an answer, and not while the member is at another element', async () => {
    const hung = await startReceiver(() => {});
    const { partnerId } = partner;
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    await server.admin.webhooks.set.mutate({ keyId, url: hung.url });
    const { id } = await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
    const { page, close } = await newVisitor(browser);
    const cookies = [...owner.browser.cookies].map(([name, value]) => ({ name, value, url: server.baseUrl }));
    await page.context().addCookies(cookies);
    await page.clock.install();
    await page.goto(`${server.baseUrl}/portal/deliveries/${id}?done`);
    const loads = await countLoads(page);
    await page.clock.runFor(2_000);
    await expect.poll(loads).toBe(1);
    expect(await page.locator(':focus').textContent()).toContain('It is sent now.');
    await page.keyboard.press('Tab');
    await page.clock.runFor(10_000);
    expect(await loads()).toBe(1);
    await page.locator(':focus').blur();
    await page.clock.runFor(2_000);
    await expect.poll(loads).toBe(2);
    await close();
    hung.close();
  });

  /** Returns a function that counts how often the page was loaded since. */
  async function countLoads(page: Page) {
    const count = 'Number(sessionStorage.getItem("loads"))';
    await page.addInitScript(`sessionStorage.setItem('loads', ${count} + 1)`);
    return () => page.evaluate<number>(count);
  }

  const lists = [
    ...['/', '/clients', '/keys', '/webhooks', '/deliveries', '/requests', '/sessions', '/members'],
    ...['/warnings', '/users', '/log', '/news', '/wallet?mode=test', '/devices', '/passkeys', '/logo'],
  ];
  const looks = [
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' as const, locale: 'en' },
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const, locale: 'ar' },
  ];

  /** Opens pages as a member, and expects that they are accessible and fit the width. */
  async function checkPages(
    member: SignedInMember,
    paths: string[],
    look: (typeof looks)[number],
    of: string,
  ) {
    const { page, complaints, close } = await newVisitor(browser, look);
    const cookies = [...member.browser.cookies].map(([name, value]) => ({
      name,
      value,
      url: server.baseUrl,
    }));
    await page.context().addCookies(cookies);
    for (const path of paths) {
      const answer = await page.goto(`${server.baseUrl}/portal${path}`);
      await keepScreenshot(page, `portal-${of}-${look.locale}${path.replace(/\W/g, '-')}`);
      expect([path, answer?.status()]).toEqual([path, path === '/nothing' ? 404 : 200]);
      expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect([path, Number(overflow)]).toEqual([path, 0]);
    }
    expect(complaints).toEqual([]);
    await close();
  }

  it('shows each button whole in German at 320 pixels', async () => {
    const look = { viewport: { width: 320, height: 640 }, locale: 'de' };
    const { page, close } = await newVisitor(browser, look);
    const cookies = [...owner.browser.cookies].map(([name, value]) => ({ name, value, url: server.baseUrl }));
    await page.context().addCookies(cookies);
    for (const path of [...lists, ...records]) {
      await page.goto(`${server.baseUrl}/portal${path}`);
      const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('main form button')]
        .filter((button) => {
          const form = button.closest('form').getBoundingClientRect();
          const { left, right } = button.getBoundingClientRect();
          return left < form.left - 1 || right > form.right + 1 || button.scrollWidth > button.clientWidth;
        })
        .map((button) => button.textContent)`);
      expect([path, cut]).toEqual([path, []]);
    }
    await close();
  });

  it('shows where each button is if the browser replaces the colours', async () => {
    const { page, close } = await newVisitor(browser, { forcedColors: 'active' });
    const cookies = [...owner.browser.cookies].map(([name, value]) => ({ name, value, url: server.baseUrl }));
    await page.context().addCookies(cookies);
    for (const path of ['/wallet?mode=test', '/members', `/webhooks/${partner.keyId}`]) {
      await page.goto(`${server.baseUrl}/portal${path}`);
      const unseen = await page.evaluate<string[]>(`[...document.querySelectorAll('main button:not(.plain)')]
        .filter((button) => getComputedStyle(button).borderTopWidth === '0px')
        .map((button) => button.textContent)`);
      expect([path, unseen]).toEqual([path, []]);
    }
    await close();
  });

  for (const [n, look] of looks.entries()) {
    const name = `${look.colorScheme} and ${look.viewport.width} pixels wide`;

    it(`has accessible pages that fit the width, ${name}`, async () => {
      // The record pages share their parts, so each of them is checked in only one appearance, as are those without records.
      const ofLook = records.filter((_path, at) => at % looks.length === n);
      await checkPages(owner, [...lists, ...ofLook], look, 'full');
    });

    it(`has accessible pages for a partner who has made nothing yet, ${name}`, async () => {
      const { id } = await server.admin.partners.create.mutate({ name: 'Newcomer' });
      const newcomer = await signedIn(server, id, 'owner', 'newcomer');
      const ofLook = [...lists, '/wallet?mode=live', '/nothing'].filter(
        (_path, at) => at % looks.length === n,
      );
      await checkPages(newcomer, ofLook, look, 'empty');
    });
  }
});
