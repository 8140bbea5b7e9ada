import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { startReceiver } from '../harness/receiver.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { describeInBrowser, launchBrowser, newVisitor, type Visitor } from './chromium.ts';

let server: TestServer;
let browser: Browser;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let partner: TestPartner;
let visitor: Visitor;
let page: Page;
let status = 204;

const open = (path: string) => page.goto(`${server.baseUrl}/portal${path}`);
const secret = async () => (await page.textContent('main .done pre')) ?? '';
/** Opens the path, or reloads the page. @returns the text of the page's main part */
async function textNow(path?: string): Promise<string> {
  await (path === undefined ? page.reload() : open(path));
  return (await page.textContent('main')) ?? '';
}
/** Returns the form with this action on the page. */
const form = (act: string) => page.locator(`form:has([name="act"][value="${act}"])`);
async function send(act: string, fields: Record<string, string> = {}) {
  for (const [name, value] of Object.entries(fields)) {
    const choice = form(act).locator(`select[name="${name}"]`);
    if ((await choice.count()) > 0) await choice.selectOption(value);
    else await form(act).locator(`[name="${name}"]`).fill(value);
  }
  await form(act).locator('button').first().click();
  await page.waitForLoadState();
  expect(await page.locator('[role=alert]').allTextContents()).toEqual([]);
}

/** These tasks once needed an operator. An owner does each of them in the portal. */
describeInBrowser('an owner in the portal, without help from support', () => {
  beforeAll(async () => {
    const env = { SVC_PORTAL: 'on', SVC_LOCALHOST_WEBHOOKS: 'on' };
    [server, browser] = await Promise.all([startTestServer({ env }), launchBrowser()]);
    receiver = await startReceiver((_count, _request, response) =>
      response.writeHead(status).end(status === 204 ? undefined : `answer ${status}`),
    );
    partner = await createPartner(server);
    await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
    visitor = await newVisitor(browser);
    ({ page } = visitor);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    const wanted = { partnerId: partner.partnerId, email: 'kim@shop.example', role: 'owner' } as const;
    const { link } = await server.admin.members.invite.mutate(wanted);
    await page.goto(link);
    await page.click('main button');
    await page.waitForURL(/\/portal\/$/);
  }, within(60_000));
  afterAll(async () => {
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
    await browser.close();
    receiver.close();
    await server.stop();
  });

  it('sets a logo from a file, sees it in the preview, and removes it', async () => {
    const png = new PNG({ width: 64, height: 64 });
    png.data.fill(200);
    const choose = (buffer: Buffer) =>
      page.setInputFiles('input[type=file]', { name: 'logo.png', mimeType: 'image/png', buffer });
    const { partnerId } = partner;
    const requestNow = async () => (await server.admin.partners.show.query({ partnerId })).brandRequest;
    await open(`/clients/${partner.clientId}`);
    await page.click('main a[href$="/portal/logo"]');
    // White points are signs of base64 that take three bytes each in a form.
    for (const colour of [0, 0xff]) {
      await choose(Buffer.alloc(300_000, colour));
      await form('set').locator('button').click();
      await page.locator('input[aria-invalid=true]').waitFor();
      expect(await page.textContent('main .fault')).toContain('at most 256 KiB');
      await open('/logo');
    }
    await choose(PNG.sync.write(png));
    await form('set').locator('button').click();
    await page.locator('p.done').waitFor();
    // The operator approves it for live mode. The preview and test mode have it already.
    const logo = (await requestNow())?.changes.logo ?? expect.fail('no logo');
    await page.frameLocator('iframe').locator(`img[src*="${logo}"]`).waitFor();
    await send('remove');
    expect(await requestNow()).toBeNull();
  });

  it('sends the file that was chosen last, and reads no more of a file than a logo can have', async () => {
    await open('/logo');
    await page.evaluate(`
      window.reads = [];
      const { readAsDataURL } = FileReader.prototype;
      FileReader.prototype.readAsDataURL = function (blob) {
        window.reads.push({ size: blob.size, end: new Promise((done) => { this.addEventListener('loadend', done); }) });
        readAsDataURL.call(this, blob);
      };`);
    for (const buffer of [Buffer.alloc(1_000_000), Buffer.from('last')])
      await page.setInputFiles('input[type=file]', { name: 'logo.png', mimeType: 'image/png', buffer });
    const sizes = await page.evaluate<number[]>(
      'Promise.all(window.reads.map(({ size, end }) => end.then(() => size)))',
    );
    expect(sizes).toEqual([270_000, 4]);
    await form('set').locator('button:enabled').waitFor();
    expect(await form('set').locator('[name=image]').inputValue()).toBe('bGFzdA==');
  });

  it('adds and removes a redirect URI', async () => {
    await open(`/clients/${partner.clientId}`);
    await send('addUri', { uri: 'http://localhost:9999/second' });
    expect(await page.textContent('main')).toContain('http://localhost:9999/second');
    await send('removeUri', { uri: 'http://localhost:9999/second' });
    const { redirectUris } = await server.admin.clients.show.query({ clientId: partner.clientId });
    expect(redirectUris).toEqual([partner.redirectUri]);
  });

  it('rotates a client secret, and exchanges with the old and the new secret both answer 200', async () => {
    await open(`/clients/${partner.clientId}`);
    await send('rotate', { keepOld: '86400' });
    const rotated = { ...partner, clientSecret: await secret() };
    for (const one of [partner, rotated])
      expect((await exchangeCode(server, one, await completeSession(server, one))).status).toBe(200);
    partner = rotated;
  });

  it('creates a second client with its own API key, and the client can exchange a code', async () => {
    await open('/keys');
    await send('create', { mode: 'test' });
    const [, keyId = ''] = /(key_\w{22})/.exec((await page.textContent('main .done')) ?? '') ?? [];
    await open('/clients');
    await form('create').locator('[name=claim_identity_verified]').check();
    await send('create', { name: 'Second', keyId, redirectUris: 'http://localhost:9999/callback' });
    const [, clientId = ''] = /(cli_\w{22})/.exec((await page.textContent('main .done h2')) ?? '') ?? [];
    const second = { ...partner, keyId, clientId, clientSecret: await secret() };
    expect((await exchangeCode(server, second, await completeSession(server, second))).status).toBe(200);
  });

  it('replaces an API key, and the old key gets 401 immediately', async () => {
    await open(`/keys/${partner.keyId}`);
    await send('rotate', { keepOld: '0' });
    const ask = (key: string) =>
      fetch(`${server.baseUrl}/api/wallet`, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask(partner.apiKey)).status).toBe(401);
    partner = { ...partner, apiKey: await secret() };
    expect((await ask(partner.apiKey)).status).toBe(200);
  });

  it('prepares the next webhook secret, and switches to it', async () => {
    await open(`/webhooks/${partner.keyId}`);
    await send('prepare');
    const next = await secret();
    await open(`/webhooks/${partner.keyId}`);
    await send('switch');
    const { last4 } = await server.admin.webhooks.show.query({ keyId: partner.keyId });
    expect(next.endsWith(last4 ?? '?')).toBe(true);
  });

  it('reads why a delivery failed, and resends this delivery and those of a time span', async () => {
    status = 500;
    await open(`/webhooks/${partner.keyId}`);
    await send('test');
    await expect.poll(() => textNow('/deliveries?status=failed')).toContain('dlv_');
    await page.click('main table a');
    await page.waitForLoadState();
    const shown = (await page.textContent('main')) ?? '';
    for (const part of ['Status500', 'X-SVC-Event: ', '"event_id"', 'No body is kept'])
      expect(shown).toContain(part);
    status = 204;
    await open('/deliveries?status=delivered');
    await page.click('main table a');
    await send('resend');
    await expect.poll(() => textNow()).toContain('delivered');
    await open('/deliveries');
    await send('resendSpan', { key: partner.keyId, since: '2020-01-01', status: 'delivered' });
    await expect.poll(() => textNow(), { timeout: within(20_000) }).toContain('done');
  });

  it('reads the balance and the usage chart, and gets a signed statement', async () => {
    await open('/wallet?mode=test');
    expect(await page.textContent('main')).toContain('-0.50 USD');
    expect(await page.locator('svg.chart rect').count()).toBe(30);
    await page.fill('[name=from]', '2020-01-01');
    const saving = page.waitForEvent('download');
    await page.click('button[formaction$="statement.jws"]');
    const file = await saving;
    expect(file.suggestedFilename()).toBe('statement-test-2020-01-01.jws');
    expect(readFileSync(await file.path(), 'utf8').split('.')).toHaveLength(3);
  });

  it('sets spend caps, the threshold of a low balance, and e-mail notices', async () => {
    await open('/wallet?mode=test');
    await send('caps', { perMinute: '30', perHour: '300' });
    await open('/warnings');
    await send('set', { lowBalance: 'dollars', amount: '120' });
    // The threshold is about live money, so a question comes first.
    await page.locator('form:has(input[name="confirmed"]) button').first().click();
    await page.waitForLoadState();
    await open('/warnings');
    await form('wish').locator('[name=wanted]').check();
    await send('wish');
    const { partnerId } = partner;
    expect(await server.admin.limits.show.query({ partnerId, mode: 'test' })).toMatchObject({
      perMinute: 30,
    });
    expect(await server.admin.warnings.settings.query({ partnerId })).toMatchObject({
      lowBalance: { cents: 12_000 },
    });
    expect(await form('wish').locator('[name=wanted]').isChecked()).toBe(true);
  });

  it('finds a request by its id, with the meaning of its error and the remedy', async () => {
    const refused = await exchangeCode(
      server,
      { ...partner, clientSecret: 'wrong' },
      await completeSession(server, partner),
    );
    const id = refused.headers.get('x-request-id') ?? '';
    await expect.poll(async () => (await open(`/requests?id=${id}`))?.status()).toBe(200);
    await page.click('main table a');
    await page.waitForLoadState();
    const text = await page.textContent('main');
    for (const part of [id, 'invalid_client', 'What to do']) expect(text).toContain(part);
  });

  it('previews the consent page with a new branding before saving it', async () => {
    await open(`/clients/${partner.clientId}`);
    await form('brand').locator('[name=brandName]').fill('Acme Nights');
    await form('brand').locator('[name=brandColor]').fill('#0a7f5c');
    await form('brand').locator('button.second').click();
    await page.waitForLoadState();
    const frame = page.frameLocator('iframe.preview');
    await expect.poll(() => frame.locator('h1').textContent()).toContain('Acme Nights');
    const clientId = { clientId: partner.clientId };
    expect((await server.admin.clients.show.query(clientId)).brandName).toBeNull();
    await form('brand').locator('button').first().click();
    await page.waitForLoadState();
    expect((await server.admin.clients.show.query(clientId)).brandName).toBe('Acme Nights');
  });

  it('finds a user by the subject of an access token', async () => {
    const answer = await exchangeCode(server, partner, await completeSession(server, partner));
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      sub: string;
    };
    await open(`/users?${new URLSearchParams({ sub }).toString()}`);
    expect(await page.locator('main tbody tr').count()).toBeGreaterThan(0);
    await page.click('main table a');
    await page.waitForLoadState();
    expect(await page.textContent('main')).toContain('age_18_plus');
    expect(await page.textContent('main table')).toContain('ses_');
  });

  it('finds its earlier actions with their actor in the audit log', async () => {
    await open('/log');
    const text = (await page.textContent('main table')) ?? '';
    for (const act of ['keys.rotate', 'clients.rotateSecret', 'webhooks.switchSecret', 'limits.set'])
      expect(text).toContain(act);
    expect(text).toContain('kim@shop.example');
  });
});
