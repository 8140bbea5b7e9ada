import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testIdentityWalletSources } from '../../contracts/identity-wallet-sources.ts';
import { accessCertificate } from '../../server/identity-wallet/test-wallet/issuer.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import type { AnnexCData } from '../identity-wallet/asking.ts';
import { issuer } from '../identity-wallet/attested.ts';
import { type HeldDocument, licence, presentByAnnexC, proofOfAge } from '../identity-wallet/iso-wallet.ts';
import { otherIdentityWallet } from '../identity-wallet/other-wallet.ts';
import { expectReadable } from './appearance.ts';
import { describeInBrowser, launchBrowser, newVisitor } from './chromium.ts';
import { openShop, type Shop } from './shop.ts';

const trustAnchors = issuer.anchorPem;
const access = accessCertificate(new Uint8Array(32), Date.now());
const configured = [
  { name: 'age', label: 'Age app', profile: 'eu-age-verification', trustAnchors },
  { name: 'pid', label: 'EUDI Wallet', profile: 'eudi-pid', trustAnchors, access },
  { name: 'licence', label: 'Driving licence', profile: 'mdl', trustAnchors, access },
];

/** Replaces the browser's Digital Credentials API by one that supports only `protocols` and calls `pickCredential`. */
const digitalCredentials = (protocols: string) => `
  globalThis.DigitalCredential = class {
    static userAgentAllowsProtocol(name) { return ${protocols}.test(name); }
  };
  navigator.credentials.get = async ({ digital: { requests: [request, ...more] } }) => {
    if ([request, ...more].some(({ protocol }) => !${protocols}.test(protocol))) throw new TypeError();
    return { protocol: request.protocol, data: await pickCredential(request) };
  };`;
const openId = '/^openid4vp-v1-/';
const iso = '/^org-iso-mdoc$/';
const noDigitalCredentials = 'delete globalThis.DigitalCredential;';

describeInBrowser('European identity wallets in a real browser', () => {
  let service: TestServer;
  let shop: Shop;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startTestServer({ env: { SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(configured) } }),
      launchBrowser(),
    ]);
    shop = await openShop(service);
  });
  afterAll(async () => {
    await browser.close();
    await shop.close();
    await service.stop();
  });

  const atShop = (url: URL) => url.origin === shop.origin;
  const openWallet = (page: Page) =>
    page.getByRole('link', { name: 'Open the test identity wallet' }).click();

  interface Digital {
    protocols: string;
    pick: (request: { data: object }) => Promise<object>;
  }

  async function begin(source: string, api?: Digital): Promise<{ page: Page; complaints: string[] }> {
    await service.admin.clients.update.mutate({ clientId: shop.partner.clientId, sources: [source] });
    const visitor = await newVisitor(browser);
    await visitor.page.addInitScript(api ? digitalCredentials(api.protocols) : noDigitalCredentials);
    if (api) await visitor.page.exposeFunction('pickCredential', api.pick);
    await visitor.page.goto(shop.link());
    await visitor.page.getByRole('button', { name: 'Allow and continue' }).click();
    return visitor;
  }

  it.each(testIdentityWalletSources.map(({ name }) => name))(
    'the identity wallet %s verifies a user in the same browser, after the user has refused once',
    async (source) => {
      const { page, complaints } = await begin(source);
      await expectReadable(page, `${source} asks`);
      await openWallet(page);
      await expectReadable(page, `${source} shows`);
      await page.getByRole('button', { name: 'Refuse' }).click();
      await page.getByText('You said no in your identity wallet.').waitFor();
      await expectReadable(page, `${source} declined`);
      await openWallet(page);
      await page.getByRole('button', { name: 'Present', exact: true }).click();
      await page.waitForURL(atShop);
      expect(shop.last()).toHaveProperty('code');
      expect(complaints).toEqual([]);
    },
  );

  it.each(testIdentityWalletSources.map(({ name }) => name))(
    'the identity wallet %s on a phone verifies a user who started on a computer, which then opens the partner',
    async (source) => {
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
    },
  );

  const digital = (page: Page) =>
    page.getByRole('button', { name: 'Choose an identity wallet in this browser' });

  const byOpenId: Digital['pick'] = (request) => otherIdentityWallet.pick(request, service.baseUrl);
  const byAnnexC =
    (document: HeldDocument): Digital['pick'] =>
    ({ data }) =>
      presentByAnnexC(data as AnnexCData, { document, origin: service.baseUrl });

  it.each([
    ['age', 'OpenID4VP', openId, byOpenId],
    ['pid', 'OpenID4VP', openId, byOpenId],
    ['age', 'Annex C', iso, byAnnexC(proofOfAge)],
    ['licence', 'Annex C', iso, byAnnexC(licence)],
  ])(
    'the identity wallet %s verifies a user by the Digital Credentials API with the protocol %s, after an error too',
    async (source, _name, protocols, pick) => {
      let refuses = true;
      const { page, complaints } = await begin(source, {
        protocols,
        pick: (request) => {
          if (refuses) throw new Error('the user has closed the dialogue');
          return pick(request);
        },
      });
      // The script shows this button last.
      await digital(page).waitFor();
      expect(await page.locator('.primary:visible').count()).toBe(1);
      expect(await page.locator('form:not(.digital) > .actions > :not(.quiet)').count()).toBe(0);
      await digital(page).click();
      await page.getByText('Your identity wallet could not answer.').waitFor();
      await expectReadable(page, `${source} by the browser, closed`);
      refuses = false;
      await digital(page).click();
      await page.waitForURL(atShop);
      expect(shop.last()).toHaveProperty('code');
      expect(complaints).toEqual([]);
    },
  );

  it('the page of an identity wallet does not reload while the answer that it has sent is on its way', async () => {
    const { page } = await begin('age', { protocols: openId, pick: byOpenId });
    await digital(page).waitFor();
    const opened: string[] = [];
    let openedMeanwhile: string[] | undefined;
    await page.route('**/wallet', async (route) => {
      // The service has stored the answer. The page's script asks twice whether it has, before the redirect arrives.
      const response = await route.fetch({ maxRedirects: 0 });
      page.on('request', (request) => {
        if (request.isNavigationRequest()) opened.push(request.url());
      });
      await sleep(2_500);
      openedMeanwhile = [...opened];
      await route.fulfill({ response }).catch(() => undefined);
    });
    await digital(page).click();
    await expect.poll(() => openedMeanwhile).toEqual([]);
    await page.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
  });

  it('the keyboard keeps its focus at the button of the wallet if the user refuses', async () => {
    const pick = () => sleep(200).then(() => Promise.reject(new Error('refused')));
    const { page } = await begin('licence', { protocols: '/./', pick });
    await digital(page).press('Enter');
    await page.locator('form.digital [role=status]').waitFor();
    expect(await page.locator('form.digital button:focus').count()).toBe(1);
  });

  it('a driving licence verifies a user by the Digital Credentials API in a browser that allows every protocol', async () => {
    const { page } = await begin('licence', { protocols: '/./', pick: byAnnexC(licence) });
    await digital(page).click();
    await page.waitForURL(atShop);
    expect(shop.last()).toHaveProperty('code');
  });

  it('a browser that allows no offered protocol shows only the link to the wallet', async () => {
    const { page } = await begin('licence', { protocols: '/^other$/', pick: byOpenId });
    await page.getByRole('link', { name: 'Open Driving licence' }).waitFor();
    expect(await digital(page).isVisible()).toBe(false);
  });

  it('a browser without the Digital Credentials API shows only the link to the wallet', async () => {
    const { page } = await begin('age');
    await page.getByRole('link', { name: 'Open Age app' }).waitFor();
    expect(await digital(page).isVisible()).toBe(false);
  });
});
