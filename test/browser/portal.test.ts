import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPartner, exchangeCode, type TestPartner, verifyUser } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { type SignedInMember, signedIn } from '../portal/signed-in.ts';
import { accessibilityFaults } from './axe.ts';
import { describeInBrowser, launchBrowser, newVisitor } from './chromium.ts';

let server: TestServer;
let browser: Browser;
let partner: TestPartner;
let owner: SignedInMember;

describeInBrowser('the portal', () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([startTestServer({ env: { SVC_PORTAL: 'on' } }), launchBrowser()]);
    partner = await createPartner(server);
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hooks' });
    await exchangeCode(server, partner, await verifyUser(server, partner));
    owner = await signedIn(server, partner.partnerId, 'owner');
  }, within(60_000));
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  it('makes a passkey by an invitation, signs out, and signs in with it', async () => {
    const wanted = { partnerId: partner.partnerId, email: 'zoe@shop.example', role: 'finance' } as const;
    const { link } = await server.admin.members.invite.mutate(wanted);
    const { page, complaints, close } = await newVisitor(browser);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    await page.goto(link);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    expect(await page.textContent('header')).toContain('zoe@shop.example');
    await page.click('header button');
    await page.waitForURL(/\/portal\/sign-in$/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
    expect(complaints).toEqual([]);
    await close();
  });

  for (const look of [
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' as const, locale: 'en' },
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const, locale: 'ar' },
  ])
    it(`has accessible pages that fit, ${look.colorScheme} and ${look.viewport.width} wide`, async () => {
      const { page, complaints, close } = await newVisitor(browser, look);
      const cookies = [...owner.browser.cookies].map(([name, value]) => ({
        name,
        value,
        url: server.baseUrl,
      }));
      await page.context().addCookies(cookies);
      const [delivery] = await server.admin.deliveries.list.query({ partnerId: partner.partnerId });
      for (const path of [
        ...['/', '/clients', '/keys', '/webhooks', '/deliveries', '/requests', '/sessions', '/members'],
        ...['/warnings', '/users', '/log', '/news', `/members/${owner.id}`, '/nothing'],
        ...['/wallet?mode=test', `/clients/${partner.clientId}`, `/webhooks/${partner.keyId}`],
        ...[`/keys/${partner.keyId}`, `/deliveries/${delivery?.id ?? ''}`],
      ]) {
        await page.goto(`${server.baseUrl}/portal${path}`);
        expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([path, Number(overflow)]).toEqual([path, 0]);
      }
      expect(complaints).toEqual([]);
      await close();
    });
});
