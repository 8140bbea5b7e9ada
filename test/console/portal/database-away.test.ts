import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode } from '../../harness/partner.ts';
import { within } from '../../harness/time-limits.ts';
import { type BehindProxy, startBehindProxy } from '../../platform/behind-proxy.ts';
import { type SignedInMember, signedIn } from './signed-in.ts';

let site: BehindProxy;
let owner: SignedInMember;
let paths: string[];
let csrf: string;
beforeAll(async () => {
  site = await startBehindProxy({ SVC_PORTAL: 'on' });
  const { server } = site;
  const partner = await createPartner(server);
  await exchangeCode(server, partner, await completeSession(server, partner));
  owner = await signedIn(server, partner.partnerId, 'owner');
  const { html } = await owner.browser.open('/');
  paths = [...html.matchAll(/href="\/portal(\/[^".?]*)"/g)].map(([, path = '']) => path);
  paths.push('/wallet/statement.csv', `/clients/${partner.clientId}`, `/keys/${partner.keyId}`, '/sign-in');
  csrf = await owner.csrf();
}, within(60_000));
afterAll(() => site.stop());

const german = { 'accept-language': 'de' };

it("a page of the portal answers 503 in the member's language while the database is away, and recovers without a restart", {
  timeout: within(90_000),
}, async () => {
  const { browser } = owner;
  const { proxy } = site;
  expect(paths.length).toBeGreaterThan(15);
  await proxy.cut();
  const answers = await Promise.all(
    paths.map(async (path) => ({ path, ...(await browser.open(path, german)) })),
  );
  answers.push({
    path: 'POST',
    ...(await browser.post('/keys', { csrf, act: 'create', mode: 'test' }, german)),
  });
  for (const { path, status, html, response } of answers) {
    // The sign-in page works without the database, which is read only when the passkey's answer is posted.
    if (path === '/sign-in') continue;
    expect([path, status, response.headers.get('retry-after')]).toEqual([path, 503, '5']);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).toContain('<html lang="de" dir="ltr">');
    expect(html).toContain(String(response.headers.get('x-request-id')));
    expect(html).not.toMatch(/Mongo|ECONN|\bat .*\.[jt]s|node_modules/);
  }
  await proxy.restore();
  const again = async () => (await browser.open('/', german)).status;
  await expect.poll(again, { timeout: within(20_000) }).toBe(200);
  for (const path of paths) expect([path, (await browser.open(path, german)).status]).toEqual([path, 200]);
});
