import { existsSync, readFileSync, statSync } from 'node:fs';
import { request as rawRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../server/demo/demo.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { freePort } from '../harness/free-port.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';

let service: TestServer;
let demo: Demo;

async function start(): Promise<Demo> {
  const { baseUrl, admin, dataDir } = service;
  const port = await freePort();
  return startDemo({ port, baseUrl, admin, dataDir, logger: createLogger('silent') });
}
beforeAll(async () => {
  service = await startTestServer();
  demo = await start();
});
afterAll(async () => {
  await demo.close();
  await service.stop();
});

/** Opens the shop in a new browser. `verifyAs` completes the hosted flow, and returns the result page. */
function openShop(at: Demo = demo) {
  let cookie = '';

  async function ask(path: string, method = 'GET') {
    const response = await fetch(`${at.url}${path}`, { method, redirect: 'manual', headers: { cookie } });
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    return response;
  }

  return {
    ask,
    page: async (path: string) => (await ask(path)).text(),
    async verifyAs(person: string): Promise<string> {
      const away = (await ask('/verify', 'POST')).headers.get('location') ?? '';
      const back = await passFlow(createBrowser(service.baseUrl), away, person);
      const { status } = await ask(`${back.pathname}${back.search}`);
      expect(status).toBe(303);
      return (await ask('/result')).text();
    },
  };
}

const accountFile = () => join(service.dataDir, 'demo.json');

describe('the demo partner', () => {
  it('sends nothing to the service before a visitor begins', async () => {
    const page = await openShop().page('/');
    expect(page).toContain('Verify my age');
    expect(existsSync(accountFile())).toBe(false);
    expect(await service.admin.partners.list.query({})).toEqual([]);
  });

  it('shows the claims, the API calls, the balance before and after, and the events that arrive', async () => {
    const shop = openShop();
    const first = await shop.verifyAs('adult');
    expect(first).toContain('Welcome: you are 18 or older');
    expect(first).toContain(`curl -s ${service.baseUrl}/api/oauth/token`);
    expect(first).toContain('50.00 USD');
    expect(first).toContain('49.50 USD');
    await expect.poll(async () => (await shop.ask('/result/state')).text()).toBe('2');
    const complete = await shop.page('/result');
    for (const text of ['verification.session.completed', 'enrollment.created', 'signature verified'])
      expect(complete).toContain(text);
    expect(complete).toContain('/api/verify/hvf-session/ses_');
    expect(complete).toContain('&quot;status&quot;: &quot;complete&quot;');

    await shop.ask('/revoke', 'POST');
    expect(await shop.page('/result')).toContain('The revoked token is refused');
  });

  it.each([
    ['teen', 'Sorry: you are not 18 yet'],
    ['rejected', 'You were not verified'],
    ['low-balance', 'the exchange was refused'],
  ])('shows to the sandbox user %s the text "%s"', async (person, text) => {
    expect(await openShop().verifyAs(person)).toContain(text);
  });

  it('stores its account in a file that only its owner can read, and uses it again after a restart', async () => {
    const accountBefore = readFileSync(accountFile(), 'utf8');
    expect(statSync(accountFile()).mode & 0o777).toBe(0o600);
    await demo.close();
    demo = await start();
    expect(await openShop().verifyAs('adult')).toContain('Welcome');
    const accountAfter = JSON.parse(readFileSync(accountFile(), 'utf8'));
    const { partnerId, keyId, clientId, clientSecret, webhookUrl } = JSON.parse(accountBefore);
    expect(accountAfter).toMatchObject({ partnerId, keyId, clientId, clientSecret, webhookUrl });
    expect(await service.admin.partners.list.query({})).toHaveLength(1);
  });
});

describe('an error of the demo partner', () => {
  const textOf = (page: string) => page.replace(/<details>[\s\S]*<\/details>/, '').replace(/<[^>]+>/g, ' ');

  it.each([
    ['for a browser that started no verification', '/callback?code=x&state=x', 404, 'Start at the shop'],
    ['for an unknown path', '/nowhere', 404, 'There is no such page'],
  ])('%s is a page in plain words, with a link back to the shop', async (_what, path, status, title) => {
    const answer = await openShop().ask(path);
    expect(answer.status).toBe(status);
    const page = await answer.text();
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(page).toContain(`href="${demo.url}/"`);
    expect(textOf(page)).not.toMatch(/not_found|route_|state|iss\b/);
  });

  it('shows protocol terms only in the part for developers if a callback does not match', async () => {
    const shop = openShop();
    await shop.ask('/verify', 'POST');
    const page = await shop.page('/callback?code=x&state=x&iss=https://other.example');
    expect(page).toContain('<h1>We could not match your return</h1>');
    expect(textOf(page)).not.toMatch(/invalid_request|state|iss\b/);
    expect(page).toMatch(/<summary>For developers<\/summary>[\s\S]*invalid_request/);
  });
});

describe('the demo partner under attack', () => {
  it('answers 400 to a callback with an unknown state, and 404 to a visitor without a verification', async () => {
    const shop = openShop();
    await shop.ask('/verify', 'POST');
    const forged = await shop.ask(`/callback?code=x&state=x&iss=${service.baseUrl}`);
    expect(forged.status).toBe(400);
    expect((await openShop().ask('/callback?code=x&state=x')).status).toBe(404);
  });

  it('answers 404 to other host names, and 403 to forms of other sites', async () => {
    const { port } = new URL(demo.url);
    const named = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = rawRequest({ port, host: '127.0.0.1', headers: { host } }, ({ statusCode }) => {
          resolve(statusCode);
        });
        sent.on('error', reject).end();
      });
    expect(await named(`localhost:${port}`)).toBe(200);
    expect(await named(`evil.example:${port}`)).toBe(404);
    const headers = { origin: 'https://evil.example' };
    expect((await fetch(`${demo.url}/verify`, { method: 'POST', redirect: 'manual', headers })).status).toBe(
      403,
    );
  });

  it('answers 401 to a webhook with a wrong signature, and does not show its event', async () => {
    const shop = openShop();
    await shop.verifyAs('adult');
    const { webhookUrl } = JSON.parse(readFileSync(accountFile(), 'utf8')) as { webhookUrl: string };
    const body = JSON.stringify({ event: 'vae.resolved', event_id: 'evt_forged' });
    const answer = await fetch(webhookUrl, {
      method: 'POST',
      body,
      headers: { 'x-svc-signature': 'sha256=00' },
    });
    expect(answer.status).toBe(401);
    expect(await shop.page('/result')).not.toContain('evt_forged');
  });
});
