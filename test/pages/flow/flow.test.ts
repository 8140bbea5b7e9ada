import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestPartner } from '../../harness/partner.ts';
import { openBrowser, verifyAs } from '../browser.ts';
import {
  baseUrl,
  exchange,
  type Hosted,
  onboard,
  redirectUri,
  returned,
  startHosted,
  state,
} from '../hosted.ts';

let hosted: Hosted;
let partner: TestPartner;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted();
  partner = await onboard(hosted);
  ({ clientId } = partner);
});
afterAll(() => hosted.close());

/** Waits for the event of a failed session. */
const failure = (sessionId: string) =>
  expect.poll(async () => {
    const [event] = await hosted.events({ type: 'verification.session.failed', sessionId });
    return event && (JSON.parse(event['body']) as unknown);
  });
const statusOf = async (sessionId: string) => (await hosted.stores.sessions.find(sessionId))?.status;

async function startSession() {
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  return browser;
}

async function reachPeople() {
  const browser = await startSession();
  await browser.press({ decision: 'accept' });
  return browser;
}

describe('the pages of the hosted flow', () => {
  it('begin with a consent page that names the partner, the requested claims, and what is not shared', async () => {
    const { page } = await startSession();
    expect(page.status).toBe(200);
    expect(page.body).toContain('Weinhaus &lt;Grün&gt;');
    expect(page.body).toContain('Whether you are 18 or older');
    expect(page.body).toContain('Your country');
    expect(page.body).toContain('Your documents or pictures of you');
    expect(page.body).toContain('shop.example');
    expect(page.body).not.toContain('shoe_size');
  });

  it('lead from consent to the redirect, with a new session cookie after authentication', async () => {
    const browser = await startSession();
    const sessionId = browser.sessionId();
    const first = browser.jar.get(`svc_${sessionId}`)?.value;
    expect(await statusOf(sessionId)).toBe('pending');
    await browser.press({ decision: 'accept' });
    expect(browser.page.body).toContain('value="unknown-country"');
    expect(browser.jar.get(`svc_${sessionId}`)?.value).toBe(first);
    const answer = await browser.press({ person: 'adult' });
    expect(answer.location).toMatch(redirectUri);
    expect(browser.jar.get(`svc_${sessionId}`)?.value).not.toBe(first);
    expect(await statusOf(sessionId)).toBe('complete');
  });

  it('answer 400 to a decision or a sandbox user that they do not offer', async () => {
    const browser = await startSession();
    expect((await browser.press({ decision: 'perhaps' })).status).toBe(400);
    await browser.open(browser.at);
    expect((await browser.press({})).status).toBe(400);
    const people = await reachPeople();
    expect((await people.press({ person: 'constructor' })).status).toBe(400);
    expect(await statusOf(people.sessionId())).toBe('pending');
  });
});

describe('a hosted flow that the user stops', () => {
  it('ends with access_denied if the user declines consent', async () => {
    const browser = await startSession();
    const answer = await browser.press({ decision: 'decline' });
    expect(answer.status).toBe(303);
    expect(returned(answer.location)).toMatchObject({
      error: 'access_denied',
      state,
      iss: baseUrl,
      session_id: browser.sessionId(),
    });
    await failure(browser.sessionId()).toMatchObject({ failure_reason: 'consent_declined' });
  });

  it.each([
    ['consent', startSession],
    ['authentication', reachPeople],
  ])('ends with verification_failed if the user cancels during %s', async (_step, reach) => {
    const browser = await reach();
    const answer = await browser.press({ decision: 'cancel' });
    expect(returned(answer.location)).toMatchObject({ error: 'verification_failed', state, iss: baseUrl });
    await failure(browser.sessionId()).toMatchObject({ failure_reason: 'abandoned' });
    expect(await statusOf(browser.sessionId())).toBe('pending');
  });

  it('ends with access_denied if the user allows in one tab, and then declines in a second one', async () => {
    const browser = await startSession();
    const { action, fields } = browser.form();
    await browser.press({ decision: 'accept' });
    const answer = await browser.request(action, { ...fields, decision: 'decline' });
    expect(returned(answer.location)).toMatchObject({ error: 'access_denied', state });
    await failure(browser.sessionId()).toMatchObject({ failure_reason: 'consent_declined' });
  });

  it.each([
    ['cancel', 'verification_failed'],
    ['decline', 'access_denied'],
  ])('ends if an earlier page sends "%s" after the cookie was renewed', async (decision, error) => {
    const browser = await startSession();
    const consent = browser.form();
    await browser.press({ decision: 'accept' });
    const people = browser.form();
    const cookie = () => browser.jar.get(`svc_${browser.sessionId()}`)?.value;
    const before = cookie();
    await browser.press({ decision: 'phone' });
    expect(cookie()).not.toBe(before);
    const { action, fields } = decision === 'cancel' ? people : consent;
    const answer = await browser.request(action, { ...fields, decision });
    expect(returned(answer.location)).toMatchObject({ error });
  });

  it('continues if a form with the token of another session, or with a forged token, refuses', async () => {
    const browser = await startSession();
    await browser.press({ decision: 'accept' });
    await browser.press({ decision: 'phone' });
    const other = await startSession();
    const [nonce, mac] = (browser.form().fields['csrf'] ?? '').split('.');
    const { action, fields } = browser.form();
    for (const csrf of [other.form().fields['csrf'] ?? '', `x.${mac}`, `${nonce}.x.x`, '..'])
      for (const decision of ['cancel', 'deny'])
        expect((await browser.request(action, { ...fields, csrf, decision })).status).toBe(403);
    await browser.request(action, { ...fields, csrf: '', step: 'consent', decision: 'decline' });
    expect((await hosted.stores.sessions.find(browser.sessionId()))?.failure).toBeUndefined();
  });

  it('ends if it is refused while another tab continues at the same moment', async () => {
    const browser = await startSession();
    const { action, fields } = browser.form();
    await Promise.all([
      browser.request(action, { ...fields, decision: 'accept' }),
      browser.request(action, { ...fields, decision: 'decline' }),
    ]);
    const { failure } = (await hosted.stores.sessions.find(browser.sessionId())) ?? {};
    expect(failure?.reason).toBe('consent_declined');
  });

  it('redirects both requests to the same error if a decline and a cancel are sent simultaneously', async () => {
    const browser = await startSession();
    const { action, fields } = browser.form();
    const [declined, cancelled] = await Promise.all([
      browser.request(action, { ...fields, decision: 'decline' }),
      browser.request(action, { ...fields, decision: 'cancel' }),
    ]);
    expect(declined.location).toBe(cancelled.location);
    expect((await hosted.stores.sessions.find(browser.sessionId()))?.timeline).toHaveLength(2);
  });
});

describe('the page of a session', () => {
  it('records consent once if the form is sent twice simultaneously', async () => {
    const browser = await startSession();
    const { action, fields } = browser.form();
    const twice = [1, 2].map(() => browser.request(action, { ...fields, decision: 'accept' }));
    for (const { status, location } of await Promise.all(twice)) {
      expect([status, location]).toEqual([303, `${baseUrl}${action}`]);
    }
    expect((await hosted.stores.sessions.find(browser.sessionId()))?.timeline).toHaveLength(2);
  });

  it('redirects twice with one code if the form of a sandbox user is sent twice; the old cookie otherwise gets 401', async () => {
    const browser = await reachPeople();
    const sessionId = browser.sessionId();
    const { action, fields } = browser.form();
    const cookie = `svc_${sessionId}=${browser.jar.get(`svc_${sessionId}`)?.value ?? ''}`;
    const first = await browser.request(action, { ...fields, person: 'adult' }, { cookie });
    const second = await browser.request(action, { ...fields, person: 'adult' }, { cookie });
    expect(second.location).toBe(first.location);
    expect((await browser.request(action, undefined, { cookie })).status).toBe(401);
    const planted = { ...fields, csrf: `${fields['csrf']}x`, person: 'adult' };
    expect((await browser.request(action, planted, { cookie })).status).toBe(401);
  });

  it('shows the present step if an earlier consent form is sent again, and the session can be completed', async () => {
    const browser = await startSession();
    const consent = browser.form();
    await browser.press({ decision: 'accept' });
    await browser.request(consent.action, { ...consent.fields, decision: 'accept' });
    await browser.open(browser.page.location);
    expect(browser.page.body).toContain('name="person"');
    await browser.press({ person: 'adult' });
    const answer = await browser.request(consent.action, { ...consent.fields, decision: 'cancel' });
    expect(returned(answer.location)['code']).toMatch(/^svc_code_/);
  });

  it('repeats the redirect on a reload until the code is used or expires, and then answers 409', async () => {
    const { browser, answer, sessionId } = await verifyAs(hosted, clientId, 'adult');
    const page = `/verify/session/${sessionId}`;
    expect((await browser.request(page)).location).toBe(answer.location);
    await exchange(hosted, partner, returned(answer.location)['code']);
    expect((await browser.request(page)).status).toBe(409);
    expect(browser.page.body).toContain('already finished');
    const other = await verifyAs(hosted, clientId, 'adult');
    hosted.clock.advance(10 * 60_000);
    expect((await other.browser.request(`/verify/session/${other.sessionId}`)).status).toBe(409);
  });

  it.each([
    ['without a CSRF token', { csrf: '' }, {}],
    ['with the CSRF token of another session', { csrf: 'other' }, {}],
    ['from another origin', {}, { origin: 'https://evil.example' }],
    ['from an opaque origin', {}, { origin: 'null' }],
    ['cross-site', {}, { 'sec-fetch-site': 'cross-site' }],
    ['from a sibling site', {}, { 'sec-fetch-site': 'same-site' }],
  ])(
    'answers 403 to a form that is sent %s, and the session does not change',
    async (_how, changes: Record<string, string>, headers) => {
      const browser = await startSession();
      const csrf =
        changes['csrf'] === 'other' ? { csrf: (await startSession()).form().fields['csrf'] ?? '' } : changes;
      const { action, fields } = browser.form();
      for (const decision of ['accept', 'cancel']) {
        const answer = await browser.request(action, { ...fields, decision, ...csrf }, headers);
        expect(answer.status).toBe(403);
      }
      expect((await hosted.stores.sessions.find(browser.sessionId()))?.timeline).toHaveLength(1);
    },
  );

  it('answers 401 to another browser that opens the page or sends its form', async () => {
    const browser = await startSession();
    const otherBrowser = openBrowser(hosted);
    expect((await otherBrowser.open(browser.at)).status).toBe(401);
    expect(otherBrowser.page.body).toContain('Continue in the browser where you started');
    const { action, fields } = browser.form();
    expect((await otherBrowser.request(action, { ...fields, decision: 'accept' })).status).toBe(401);
    const { body } = await otherBrowser.request(browser.at, undefined, { accept: 'application/json' });
    expect(JSON.parse(body)).toEqual({ success: false, error: 'Unauthorized' });
  });

  it('answers 404 for an unknown session, and for an unknown path', async () => {
    const browser = openBrowser(hosted);
    expect((await browser.open('/verify/session/ses_0000000000000000000000')).status).toBe(404);
    expect((await browser.open('/verify/nowhere')).status).toBe(404);
  });
});

describe('a session that cannot continue', () => {
  it('redirects the browser with session_expired 30 minutes after its start', async () => {
    const browser = await reachPeople();
    const { action, fields } = browser.form();
    hosted.clock.advance(30 * 60_000);
    const answer = await browser.open(browser.at);
    expect(answer.status).toBe(303);
    expect(returned(answer.location)).toMatchObject({ error: 'session_expired', state, iss: baseUrl });
    const late = await browser.request(action, { ...fields, person: 'adult' });
    expect(late.location).toBe(answer.location);
    expect((await openBrowser(hosted).open(browser.at)).status).toBe(401);
  });

  it('shows an error page with the status 400 if its client has no redirect URI any more', async () => {
    const own = await onboard(hosted);
    const clients = hosted.db.collection<{ _id: string }>('clients');
    const browser = openBrowser(hosted);
    await browser.start(own.clientId);
    await clients.updateOne({ _id: own.clientId }, { $set: { redirectUris: [] } });
    await hosted.services.partners.directory.changed(own.clientId);
    expect((await browser.open(browser.at)).status).toBe(400);
    expect(browser.page.location).toBe('');
  });
});
