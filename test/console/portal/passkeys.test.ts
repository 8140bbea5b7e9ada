import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TestAuthenticator } from '../../harness/authenticator.ts';
import { type MailServer, startMailServer } from '../../harness/mail-server.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { actOnDevices, createDevice } from './device/device-harness.ts';
import { acceptInvitation, createPortalBrowser, fieldIn, invite, signedIn, signInBy } from './signed-in.ts';

const minute = 60_000;
const clock = manualClock();
let server: TestServer;
let mails: MailServer;
let partner: TestPartner;
beforeAll(async () => {
  mails = await startMailServer();
  server = await startTestServer({
    clock,
    env: { SVC_PORTAL: 'on', SVC_SMTP_URL: mails.url, SVC_SMTP_FROM: 'svc@verify.example' },
  });
  partner = await createPartner(server);
});
afterAll(async () => {
  await server.stop();
  await mails.close();
});

let count = 0;
/** Signs a new member in, a minute later, because requests are limited per minute. */
const member = (role: 'owner' | 'viewer' = 'owner') => {
  clock.advance(minute);
  count += 1;
  return signedIn(server, partner.partnerId, role, `passkeys${count}`);
};
type Member = Awaited<ReturnType<typeof member>>;
type Browser = Member['browser'];
const authenticator = () => new TestAuthenticator(new URL(server.baseUrl).origin);
const optionsIn = (html: string) =>
  JSON.parse(/data-passkey="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '{}');

/** Adds a passkey on the page, as its script does. */
async function add(browser: Browser, own: TestAuthenticator, name = 'Phone') {
  const { html } = await browser.open('/passkeys');
  const answer = own.create(optionsIn(html));
  return browser.post('/passkeys', { csrf: fieldIn(html, 'csrf'), act: 'add', name, answer });
}
/** Removes a passkey, as a member who was asked first. */
const remove = async (browser: Browser, { id }: TestAuthenticator) =>
  browser.post('/passkeys', {
    ...{ csrf: await browser.csrf(), act: 'remove', passkey: id },
    confirmed: 'yes',
  });
const actsOf = async ({ id }: Member) =>
  (await server.admin.auditLog.list.query({ target: id, limit: 50 })).map(
    ({ action, before, after }) => [action, before?.['passkeys'], after?.['passkeys']] as const,
  );
const refusalsOf = async ({ id }: Member) =>
  (await server.admin.auditLog.list.query({ target: id, limit: 50 })).flatMap(({ action, outcome, error }) =>
    outcome === 'refused' ? [`${action} ${error}`] : [],
  );
const signInWith = async (own: TestAuthenticator) => {
  clock.advance(1);
  const browser = createPortalBrowser(server);
  return { browser, status: (await signInBy(browser, own)).status };
};

describe('a second passkey', () => {
  it('is added by a viewer too, has a name, signs in beside the first one, and is in the audit log', async () => {
    const viewer = await member('viewer');
    const phone = authenticator();
    const before = await viewer.browser.open('/passkeys');
    expect(before.html).toContain('Passkey of your invitation');
    expect(before.html).not.toContain('value="remove"');
    expect(optionsIn(before.html).excludeCredentials).toEqual([
      { type: 'public-key', id: viewer.authenticator.id },
    ]);
    expect((await add(viewer.browser, phone, ' Phone ')).status).toBe(303);
    const { html } = await viewer.browser.open('/passkeys');
    expect(html).toContain('>Phone</h2>');
    expect((await signInWith(phone)).status).toBe(303);
    expect((await signInWith(viewer.authenticator)).status).toBe(303);
    expect(await actsOf(viewer)).toContainEqual(['members.addPasskey', 1, 2]);
    expect(await server.admin.members.show.query({ memberId: viewer.id })).toMatchObject({ passkeys: 2 });
  });

  it('is removed only after a question that names it, and says what ends', async () => {
    const { browser } = await member();
    const phone = authenticator();
    await add(browser, phone);
    const form = { csrf: await browser.csrf(), act: 'remove', passkey: phone.id };
    const { status, html } = await browser.post('/passkeys', form);
    expect(status).toBe(200);
    for (const part of [
      ...['Please confirm', 'all sign-ins with it end', '<dd>Phone</dd>', 'Back, change nothing'],
    ])
      expect(html).toContain(part);
    expect(html).not.toContain('This is live mode');
    expect((await browser.open('/passkeys')).html).toContain('>Phone</h2>');
    expect((await browser.post('/passkeys', { ...form, confirmed: 'yes' })).status).toBe(303);
    expect((await browser.open('/passkeys')).html).not.toContain('>Phone</h2>');
  });

  it('keeps its own counter and time of the last use', async () => {
    const { browser, authenticator: own } = await member();
    const phone = authenticator();
    await add(browser, phone);
    expect((await signInWith(phone)).status).toBe(303);
    clock.advance(1);
    expect((await signInBy(createPortalBrowser(server), phone, { counter: 1 })).status).toBe(401);
    expect((await signInWith(own)).status).toBe(303);
  });

  it('needs a sign-in of the last 30 minutes: the page says so (401), and offers no form', async () => {
    const { browser } = await member();
    const { html } = await browser.open('/passkeys');
    const answer = authenticator().create(optionsIn(html));
    clock.advance(31 * minute);
    const form = { csrf: fieldIn(html, 'csrf'), act: 'add', name: 'Phone', answer };
    expect((await browser.post('/passkeys', form)).status).toBe(401);
    const later = await browser.open('/passkeys');
    expect(later.html).toContain('/portal/sign-in?again=1&amp;next=/passkeys');
    expect(later.html).not.toContain('data-passkey');
  });

  it('is refused with 401 for a cancelled, old, repeated or foreign answer, and with 400 without a name', async () => {
    const { browser } = await member();
    const other = await member();
    const { html } = await browser.open('/passkeys');
    const csrf = fieldIn(html, 'csrf');
    const post = (answer: string, name = 'Phone') =>
      browser.post('/passkeys', { csrf, act: 'add', name, answer });
    expect((await post('{}')).status).toBe(401);
    const phone = authenticator();
    const answer = phone.create(optionsIn(html));
    expect((await post(answer, ' ')).status).toBe(400);
    const elsewhere = other.browser;
    const stolen = { csrf: await elsewhere.csrf(), act: 'add', name: 'Phone', answer };
    expect((await elsewhere.post('/passkeys', stolen)).status).toBe(401);
    expect((await post(answer)).status).toBe(303);
    expect((await post(answer)).status).toBe(401);
    // Nor after its removal.
    expect((await remove(browser, phone)).status).toBe(303);
    expect((await post(answer)).status).toBe(401);
    expect((await add(browser, phone)).status).toBe(303);
    // The credential of another member, also of a second passkey.
    expect((await add(elsewhere, phone)).status).toBe(401);
    const again = await browser.open('/passkeys');
    const late = authenticator().create(optionsIn(again.html));
    clock.advance(3 * minute);
    expect((await post(late)).status).toBe(401);
  });

  it('is refused after ten', async () => {
    const { browser } = await member();
    for (let n = 1; n < 10; n += 1) expect((await add(browser, authenticator())).status).toBe(303);
    const { status, html } = await add(browser, authenticator());
    expect([status, html]).toEqual([422, expect.stringContaining('10 passkeys')]);
  });
});

describe('the removal of a passkey', () => {
  it('ends its sign-ins in browsers and programs, keeps those of the others, and is in the audit log', async () => {
    const owner = await member();
    const lost = authenticator();
    await add(owner.browser, lost);
    const { browser: thief } = await signInWith(lost);
    const device = createDevice(server);
    /** Starts a login that the thief confirms. */
    const confirmed = async () => {
      const { device_code: deviceCode, user_code: code } = await device.start();
      await actOnDevices(thief, 'confirm', { code });
      return deviceCode;
    };
    const { token } = await device.poll(await confirmed());
    const unused = await confirmed();
    expect((await device.withToken(token)).status).toBe(200);
    expect((await remove(owner.browser, lost)).status).toBe(303);
    // Before a request by the login could end it.
    expect((await owner.browser.open('/devices')).html).not.toContain('value="end"');
    expect((await thief.open('/keys')).status).toBe(303);
    expect((await device.withToken(token)).status).toBe(401);
    expect(await device.poll(unused)).toMatchObject({ error: 'access_denied' });
    expect((await owner.browser.open('/keys')).status).toBe(200);
    expect((await signInWith(lost)).status).toBe(401);
    expect((await signInWith(owner.authenticator)).status).toBe(303);
    expect(await actsOf(owner)).toContainEqual(['members.removePasskey', 2, 1]);
  });

  it('is refused for the last one, also if both are removed simultaneously, and for an unknown one (404)', async () => {
    const { browser, authenticator: own } = await member();
    expect((await remove(browser, authenticator())).status).toBe(404);
    expect((await remove(browser, own)).status).toBe(422);
    const phone = authenticator();
    await add(browser, phone);
    const { browser: other } = await signInWith(phone);
    const ended = await Promise.all([remove(browser, own), remove(other, phone)]);
    expect(ended.map(({ status }) => status)).toContain(303);
    const signIns = [await signInWith(own), await signInWith(phone)];
    expect(signIns.map(({ status }) => status).toSorted()).toEqual([303, 401]);
  });

  it('needs a sign-in of the last 30 minutes (401)', async () => {
    const { browser, authenticator: own } = await member();
    await add(browser, authenticator());
    clock.advance(31 * minute);
    expect((await remove(browser, own)).status).toBe(401);
  });
});

it('each change of passkeys is told to the member by e-mail; refusals are in the audit log, without an e-mail', async () => {
  const viewer = await member('viewer');
  const phone = authenticator();
  const { html } = await viewer.browser.open('/passkeys');
  const form = { csrf: fieldIn(html, 'csrf'), act: 'add', name: 'Phone', answer: '{}' };
  expect((await viewer.browser.post('/passkeys', form)).status).toBe(401);
  expect((await remove(viewer.browser, viewer.authenticator)).status).toBe(422);
  expect((await refusalsOf(viewer)).toSorted()).toEqual([
    'members.addPasskey unauthorized',
    'members.removePasskey refused',
  ]);
  expect((await add(viewer.browser, phone)).status).toBe(303);
  expect((await remove(viewer.browser, phone)).status).toBe(303);
  const subjects = () =>
    mails.mails.flatMap(({ to, text }) =>
      to.includes(viewer.email) ? (/^Subject: (.*)\r$/m.exec(text)?.[1] ?? []) : [],
    );
  await vi.waitFor(() =>
    expect(subjects().toSorted()).toEqual([
      'A passkey was added to your account',
      'A passkey was removed from your account',
    ]),
  );
  expect(await actsOf(viewer)).toEqual(
    expect.arrayContaining([
      ['members.addPasskey', 1, 2],
      ['members.removePasskey', 2, 1],
    ]),
  );
});

it('a new invitation replaces all passkeys, and a removed member has none', async () => {
  const { browser, email, authenticator: own } = await member();
  const phone = authenticator();
  await add(browser, phone);
  const { link } = await invite(server, { partnerId: partner.partnerId, email, role: 'owner' });
  const fresh = authenticator();
  expect((await acceptInvitation(createPortalBrowser(server), link, fresh)).status).toBe(303);
  const signIns = [await signInWith(own), await signInWith(phone), await signInWith(fresh)];
  expect(signIns.map(({ status }) => status)).toEqual([401, 401, 303]);
  expect((await browser.open('/keys')).status).toBe(303);
});
