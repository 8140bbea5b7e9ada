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

const iphone = 'Mozilla/5.0 (iPhone) Version/18.0 Mobile Safari/604.1';

async function startAndConsent() {
  const computer = openBrowser(hosted);
  await computer.start(clientId);
  const sessionId = computer.sessionId();
  await computer.press({ decision: 'accept' });
  const page = `/verify/session/${sessionId}`;
  const cookie = () => `svc_${sessionId}=${computer.jar.get(`svc_${sessionId}`)?.value}`;
  return { computer, sessionId, page, cookie };
}

/** Opens the address in another browser with this cookie. */
const withCookie = (url: string, cookie: string) => openBrowser(hosted).request(url, undefined, { cookie });

async function atPhone(body: string) {
  const phone = openBrowser(hosted, iphone);
  await phone.open(/https:\/\/verify\.example\/verify\/p\/[0-9a-z]+/.exec(body)?.[0] ?? '');
  await phone.press({ code: /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '' });
  await phone.press({ person: 'adult' });
  return phone;
}

describe("the computer's cookie", () => {
  it('is replaced when the computer asks for the phone, so that a planted cookie stops working', async () => {
    const { computer, page, cookie } = await startAndConsent();
    const planted = cookie();
    expect((await withCookie(page, planted)).status).toBe(200);
    const { body } = await computer.press({ decision: 'phone' });
    expect(cookie()).not.toBe(planted);
    expect((await withCookie(page, planted)).status).toBe(401);
    expect((await withCookie(`${page}/state`, planted)).status).toBe(401);
    const phone = await atPhone(body);
    await phone.press({ decision: 'confirm' });
    expect((await withCookie(page, planted)).status).toBe(401);
    expect(returned((await computer.open(page)).location)).toHaveProperty('code');
    expect((await withCookie(page, planted)).status).toBe(401);
  });

  it('is replaced again when the code is issued, and the previous cookie then gets 401', async () => {
    const { computer, page, cookie } = await startAndConsent();
    const phone = await atPhone((await computer.press({ decision: 'phone' })).body);
    const oldCookie = cookie();
    await phone.press({ decision: 'confirm' });
    const end = await computer.open(page);
    expect(returned(end.location)).toHaveProperty('code');
    expect(cookie()).not.toBe(oldCookie);
    expect((await withCookie(page, oldCookie)).status).toBe(401);
    expect((await computer.open(page)).location).toBe(end.location);
  });

  it("yields no code if it is older than the user's confirmation at the phone, and no code is issued", async () => {
    const { computer, page, cookie, sessionId } = await startAndConsent();
    const phone = await atPhone((await computer.press({ decision: 'phone' })).body);
    const oldCookie = cookie();
    await phone.press({ decision: 'confirm' });
    for (const url of [page, `${page}/state`, page]) {
      const { location } = await withCookie(url, oldCookie);
      expect(location).not.toContain('code=');
    }
    expect((await hosted.stores.sessions.find(sessionId))?.code).toBeUndefined();
  });

  it('yields the code to two simultaneous tabs, even if earlier answers were lost', async () => {
    const { computer, page, cookie } = await startAndConsent();
    const phone = await atPhone((await computer.press({ decision: 'phone' })).body);
    await phone.press({ decision: 'confirm' });
    const oldCookie = cookie();
    // The browser does not receive these two answers.
    for (const _lost of [1, 2]) expect((await withCookie(page, oldCookie)).status).toBe(303);
    const ends = await Promise.all([computer.open(page), computer.open(page)]);
    for (const { location } of ends) expect(returned(location)).toHaveProperty('code');
    expect(new Set(ends.map(({ location }) => location)).size).toBe(1);
  });

  it('can still open the session page after a double click on the phone button', async () => {
    const { computer, page, cookie } = await startAndConsent();
    const old = cookie();
    const { action, fields } = computer.form();
    const twice = await Promise.all(
      [1, 2].map(() => computer.request(action, { ...fields, decision: 'phone' }, { cookie: old })),
    );
    expect(twice.map(({ status }) => status)).toEqual([303, 303]);
    expect((await computer.open(page)).body).toContain('class="code"');
  });

  it.each([
    ['decision=phone', { decision: 'phone' }],
    ['person=adult', { person: 'adult' }],
    ['decision=stay', { decision: 'stay' }],
  ])('does not change the hand-off if it is sent with %s in a form of an earlier page', async (_, fields) => {
    const { computer, page, sessionId } = await startAndConsent();
    const other = computer.form();
    await computer.press({ decision: 'phone' });
    const answer = await computer.request(other.action, { ...other.fields, ...fields });
    expect([answer.status, answer.location]).toEqual([303, `https://verify.example${page}`]);
    expect((await hosted.stores.sessions.find(sessionId))?.handoff).toMatchObject({
      state: 'offered',
      number: 1,
    });
    await computer.open(page);
    await computer.press({ decision: 'stay' });
    const late = await computer.request(other.action, { ...other.fields, ...fields });
    expect(late.status).toBe(303);
    await computer.open(page);
    expect(returned((await computer.press({ person: 'adult' })).location)).toHaveProperty('code');
  });
});
