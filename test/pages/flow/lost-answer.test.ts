import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, returned, startHosted } from '../hosted.ts';

let hosted: Hosted;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  ({ clientId } = await onboard(hosted));
});
afterAll(() => hosted.close());

/** Opens a browser at the page `authenticate`. */
async function atAuthenticate() {
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  const page = `/verify/session/${browser.sessionId()}`;
  await browser.press({ decision: 'accept' });
  return { browser, page };
}

/** Sends the form of the page, and ignores its answer with the new cookie, as if it was lost. */
async function loseAnswer(
  { browser }: Awaited<ReturnType<typeof atAuthenticate>>,
  fields: Record<string, string>,
) {
  const cookies = new Map(browser.jar);
  const { action, fields: hidden } = browser.form();
  await browser.request(action, { ...hidden, ...fields });
  browser.jar.clear();
  for (const [name, cookie] of cookies) browser.jar.set(name, cookie);
}

describe('a browser that has lost the answer to a form which rotates its cookie', () => {
  it('gets the new cookie when it reloads the page, and then the code', async () => {
    const opened = await atAuthenticate();
    const { browser, page } = opened;
    await loseAnswer(opened, { person: 'adult' });
    const reload = await browser.request(page);
    expect(reload).toMatchObject({ status: 303, location: `https://verify.example${page}` });
    expect(returned((await browser.follow(reload)).location)).toHaveProperty('code');
  });

  it('continues if the form asked for the phone', async () => {
    const opened = await atAuthenticate();
    await loseAnswer(opened, { decision: 'phone' });
    const { status, body } = await opened.browser.open(opened.page);
    expect(status).toBe(200);
    expect(body).toContain('/verify/p/');
  });

  it('gets 401 without the token of that form, or with the token of another page load', async () => {
    const opened = await atAuthenticate();
    const { browser, page } = opened;
    const sessionCookie = `svc_${browser.sessionId()}`;
    const secret = browser.jar.get(sessionCookie)?.value;
    // A planted cookie has the secret, but not the token of the page that the user has loaded.
    const planted = openBrowser(hosted);
    const other = await planted.request(page, undefined, { cookie: `${sessionCookie}=${secret}` });
    expect(other.status).toBe(200);
    const [ownToken] = [...planted.jar.values()].map(({ value }) => value);
    await loseAnswer(opened, { person: 'adult' });
    for (const token of ['', `; ${sessionCookie}_form=${ownToken}`]) {
      const cookie = `${sessionCookie}=${secret}${token}`;
      expect((await openBrowser(hosted).request(page, undefined, { cookie })).status).toBe(401);
    }
  });
});
