import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { baseUrl, type Hosted, startHosted } from '../hosted.ts';
import { root } from './signed-in.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted({
    env: { SVC_HELP_ADDRESS: 'https://help.example/verify', SVC_PASSKEYS: 'off' },
  });
});
afterAll(() => hosted.close());

it('the user data page names a contact if the service has no passkeys', async () => {
  const browser = openBrowser(hosted);
  const page = await browser.open(root);
  expect(page.status).toBe(200);
  expect(page.body).toContain('Tell the site that you verified for, or write to us:');
  expect(page.body).toContain('href="https://help.example/verify"');
  expect(page.body).not.toContain('<form');
  expect(page.headers['content-security-policy']).not.toContain('script-src');
  expect(page.headers['set-cookie']).toBeUndefined();
});

it('each action of the user data page gets 404 or redirects to the page if the service has no passkeys', async () => {
  const browser = openBrowser(hosted);
  expect((await browser.request(`${root}/options`)).status).toBe(404);
  expect((await browser.request(`${root}/sign-in`, { credential: '{}' })).status).toBe(404);
  for (const path of ['/erase', '/passkeys/pky_1', '/stop/ptr_1', '/sign-out'])
    expect((await browser.request(`${root}${path}`, {})).location).toBe(`${baseUrl}${root}`);
});
