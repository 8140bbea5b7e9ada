import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRestoreStore } from '../../../server/people/restore-store.ts';
import type { TestPartner } from '../../harness/partner.ts';
import { newAuthenticator, saved } from '../../people/passkeys/passkey-browser.ts';
import { openBrowser } from '../browser.ts';
import { addClient, baseUrl, type Hosted, onboard, returned, sendCode, startHosted } from '../hosted.ts';
import { openYourData, root, signedIn } from './signed-in.ts';

let hosted: Hosted;
let partner: TestPartner;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted({
    env: { SVC_PASSKEYS: 'on', SVC_HELP_ADDRESS: 'help@verify.example' },
  });
  partner = await onboard(hosted);
  ({ clientId } = partner);
});
afterAll(() => hosted.close());

const codeOf = ({ location }: { location: string }) => returned(location)['code'] ?? '';
const auditOf = async (action: string, operatorId: string) => {
  await hosted.services.admin.auditLog.sweep();
  return hosted.db.collection('auditLog').find({ action, operatorId }).toArray();
};

it.each(['', '/'])('the user data page answers GET and HEAD at /verify/you%s', async (slash) => {
  const page = await openBrowser(hosted).open(`${root}${slash}`);
  expect([page.status, page.location]).toEqual([200, '']);
  expect(page.body).toContain('Sign in with a passkey');
  const head = await hosted.send(`${root}${slash}`, { method: 'HEAD' });
  expect([head.status, head.body]).toEqual([200, '']);
});

describe('the sign-in to the user data page', () => {
  it('asks for a passkey, and names a contact for users without one', async () => {
    const browser = await openYourData(hosted);
    expect(browser.page.status).toBe(200);
    const { options } = browser.passkeyForm() ?? expect.fail('no form');
    expect(options).toMatchObject({ rpId: 'verify.example', userVerification: 'required' });
    expect(options).not.toHaveProperty('allowCredentials');
    expect(browser.page.body).toContain('href="mailto:help@verify.example"');
    const cookies = [browser.page.headers['set-cookie']].flat().join();
    expect(cookies).toMatch(
      /^svc_you_nonce=[\w-]{43}; Path=\/verify\/you; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self';");
  });

  it('sets a cookie for 15 minutes with HttpOnly, Secure and SameSite=Strict', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await openYourData(hosted);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer).toMatchObject({ status: 303, location: `${baseUrl}${root}` });
    const cookies = [answer.headers['set-cookie']].flat().map(String);
    const sent = cookies.find((line) => line.startsWith('svc_you='));
    expect(sent).toMatch(
      /^svc_you=pky_\w{22}\.[\w-]{43}; Max-Age=900; Path=\/verify\/you; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await browser.open(root)).body).toContain('You are signed in for 15 minutes');
    hosted.clock.advance(15 * 60_000);
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
  });

  it('makes the browser leave each page with data when it ends, for the next person at the computer', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await openYourData(hosted);
    expect(browser.page.headers).not.toHaveProperty('refresh');
    await browser.sendPasskey((options) => authenticator.get(options));
    const refreshOf = async (path: string) => (await browser.open(path)).headers['refresh'];
    expect(await refreshOf(root)).toBe(`901; url=${baseUrl}${root}`);
    hosted.clock.advance(14 * 60_000 + 500);
    expect(await refreshOf(`${root}/erase`)).toBe(`60; url=${baseUrl}${root}`);
  });

  it('ends after a restore of the database, and the passkey can sign in again', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await openYourData(hosted);
    await browser.sendPasskey((options) => authenticator.get(options));
    expect((await browser.open(root)).body).toContain('You are signed in');
    const ended = await createRestoreStore(hosted.db).endOpen(new Date(hosted.clock.now()));
    expect(ended.userSignIns).toBeGreaterThan(0);
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
    const again = await openYourData(hosted);
    const { answer } = await again.sendPasskey((options) => authenticator.get(options));
    expect(answer.status).toBe(303);
  });

  it.each([
    ['from another site', { origin: 'https://verify.example.evil.example' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['in a frame of another site', { crossOrigin: true }],
    ['without user verification', { verified: false }],
    ['with a counter that goes back', { counter: 0 }],
    ['with a wrong signature', { signature: Buffer.alloc(70) }],
    ['for another user', { userHandle: 'AAAA' }],
  ])('is refused with 401 for a passkey used %s, and the page asks again', async (_what, forgery) => {
    const { authenticator } = await saved(hosted, clientId);
    await signedIn(hosted, authenticator);
    hosted.clock.advance(1_000);
    const browser = await openYourData(hosted);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options, forgery));
    expect(answer.status).toBe(401);
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    expect(answer.body).toContain('Your passkey was not accepted');
    expect(browser.passkeyForm()).toBeDefined();
    expect(browser.jar.has('svc_you')).toBe(false);
  });

  it('accepts the answer to a challenge once, and only from the same browser', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const [asked, other] = [await openYourData(hosted), await openYourData(hosted)];
    const { options, action, fields } = asked.passkeyForm() ?? expect.fail('no form');
    const credential = authenticator.get(options);
    const stolen = await other.sendPasskey(() => credential);
    expect(stolen.answer.headers['x-svc-error']).toBe('passkey_refused');
    const nonce = asked.jar.get('svc_you_nonce') ?? expect.fail('no nonce');
    expect((await asked.request(action, { ...fields, credential })).status).toBe(303);
    asked.jar.set('svc_you_nonce', nonce);
    const replayed = await asked.request(action, { ...fields, credential: authenticator.get(options) });
    expect(replayed.headers['x-svc-error']).toBe('passkey_refused');
  });

  it('gets passkey_refused on a page older than two minutes, and succeeds with a new challenge', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await openYourData(hosted);
    const { action, fields, options } = browser.passkeyForm() ?? expect.fail('no form');
    hosted.clock.advance(121_000);
    const late = await browser.request(action, { ...fields, credential: authenticator.get(options) });
    expect(late.headers['x-svc-error']).toBe('passkey_refused');
    const fresh = JSON.parse((await browser.request(`${root}/options`)).body);
    const credential = authenticator.get(fresh);
    expect((await browser.request(action, { ...fields, credential })).status).toBe(303);
  });

  it('reports an unknown passkey, and answers passkey_refused to a passkey that signed a challenge of the hosted flow', async () => {
    const browser = await openYourData(hosted);
    const { answer } = await browser.sendPasskey((options) => newAuthenticator().get(options));
    expect(answer.body).toContain('We do not know this passkey');
    const { authenticator, browser: flowBrowser } = await saved(hosted, clientId);
    await flowBrowser.start(clientId);
    const { options } = flowBrowser.passkeyForm() ?? expect.fail('no passkey');
    const again = await openYourData(hosted);
    const refused = await again.sendPasskey(() => authenticator.get(options));
    expect(refused.answer.headers['x-svc-error']).toBe('passkey_refused');
  });

  it('is refused with 403 if its form is sent from another site, or with a wrong CSRF token', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await openYourData(hosted);
    const { action, fields, options } = browser.passkeyForm() ?? expect.fail('no form');
    const credential = authenticator.get(options);
    const foreign = { origin: 'https://evil.example' };
    expect((await browser.request(action, { ...fields, credential }, foreign)).status).toBe(403);
    expect((await browser.request(action, { ...fields, credential, csrf: 'x' })).status).toBe(403);
    expect((await browser.request(action, { ...fields, credential })).status).toBe(303);
  });

  it('answers 429 to the 31st try in a minute, with the text "Too many tries"', async () => {
    const browser = await openYourData(hosted);
    const tried = async () => (await browser.sendPasskey(() => '{}')).answer;
    hosted.clock.advance(60_000 - (hosted.clock.now() % 60_000));
    const { action, fields } = browser.passkeyForm() ?? expect.fail('no form');
    for (let count = 0; count < 30; count += 1) expect((await tried()).status).toBe(401);
    const refused = await browser.request(action, { ...fields, credential: '{}' });
    expect(refused.status).toBe(429);
    expect(refused.body).toContain('Too many tries');
    expect(refused.body).toContain('href="/verify/you"');
    hosted.clock.advance(60_000);
  });

  it('ends at sign-out, even if the browser sends the same cookie again', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const cookie = browser.jar.get('svc_you') ?? expect.fail('no cookie');
    const { fields } = browser.form();
    const out = await browser.request(`${root}/sign-out`, fields);
    expect(out.status).toBe(303);
    browser.jar.set('svc_you', cookie);
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
  });

  it("is required again if the cookie has the passkey's id but another secret", async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const cookie = browser.jar.get('svc_you') ?? expect.fail('no cookie');
    const [id] = cookie.value.split('.');
    browser.jar.set('svc_you', { ...cookie, value: `${id}.${'A'.repeat(43)}` });
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
  });

  it('gets passkey_unknown if the passkey is removed at the same time', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const { passkeys } = hosted.stores;
    const { noteUse } = passkeys;
    vi.spyOn(passkeys, 'noteUse').mockImplementationOnce(async (read, answered) => {
      const isNoted = await noteUse(read, answered);
      await passkeys.remove(read._id);
      return isNoted;
    });
    const browser = await openYourData(hosted);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_unknown');
  });
});

describe('the user data page', () => {
  it('lists the enrollments with their partner, their claims, and when the partner read the claims', async () => {
    const { authenticator, browser: before } = await saved(hosted, clientId);
    const other = await onboard(hosted, { brandName: 'Kino <West>', claims: ['country'] });
    await sendCode(hosted, partner, codeOf(before.page));
    await before.start(other.clientId, { scope: 'country' });
    await before.sendPasskey((options) => authenticator.get(options));
    const browser = await signedIn(hosted, authenticator);
    const { body } = browser.page;
    expect(body.match(/<article/g)).toHaveLength(2);
    expect(body).toContain('Weinhaus &lt;Grün&gt;');
    expect(body).toContain('Kino &lt;West&gt;');
    const [first = '', second = ''] = body.split('</article>');
    expect(first).toContain('Whether you are 18 or older');
    expect(first).toContain('Read in the last 30 days');
    expect(first).toMatch(/<time datetime="[\d-]{10}T[^"]*">[^<]* UTC<\/time>/);
    expect(second).toContain('Your country');
    expect(second).not.toContain('18 or older');
    expect(second).toContain('Nothing was read in the last 30 days');
    expect(body).toContain('Test mode:');
    expect(body).toMatch(/Your country · <strong>[A-Z]{2}<\/strong>/);
    expect(body).toContain('You have signed in with this one');
  });

  it("answers 404 for another user's passkey and for an unknown partner, and cannot remove the passkey", async () => {
    const mine = await saved(hosted, clientId);
    const theirs = await saved(hosted, clientId);
    const browser = await signedIn(hosted, mine.authenticator);
    const [passkey] = (await hosted.admin.users.show.query({ user: theirs.userId })).passkeys;
    for (const path of [`/passkeys/${passkey?.id}`, '/stop/ptr_0000000000000000000000'])
      expect((await browser.open(`${root}${path}`)).status).toBe(404);
    const { fields } = browser.form(await browser.open(root));
    await browser.request(`${root}/passkeys/${passkey?.id}`, fields);
    expect((await hosted.admin.users.show.query({ user: theirs.userId })).passkeys).toHaveLength(1);
  });

  it('redirects a user who is not signed in to the sign-in page', async () => {
    const browser = await openYourData(hosted);
    for (const path of ['/erase', '/passkeys/pky_1', `/stop/${partner.partnerId}`]) {
      expect((await browser.request(`${root}${path}`)).location).toBe(`${baseUrl}${root}?ended`);
      expect((await browser.request(`${root}${path}`, { csrf: 'x' })).location).toBe(
        `${baseUrl}${root}?ended`,
      );
    }
    expect((await browser.request(`${root}/sign-out`, { csrf: 'x' })).location).toBe(`${baseUrl}${root}`);
  });

  it('does not mention test mode to a live user', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    await hosted.db.collection('passkeys').updateMany({ userId }, { $set: { mode: 'live' } });
    await hosted.db
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { mode: 'live' } });
    const browser = await signedIn(hosted, authenticator);
    expect(browser.page.body).not.toContain('Test mode:');
  });

  it('answers 403 to forms without the CSRF token, and to forms of other sites', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const { fields } = browser.form();
    const forms = ['/erase', '/sign-out', `/stop/${partner.partnerId}`];
    for (const path of forms) {
      expect((await browser.request(`${root}${path}`, { csrf: 'x.y' })).status).toBe(403);
      const foreign = { origin: 'https://shop.example' };
      expect((await browser.request(`${root}${path}`, fields, foreign)).status).toBe(403);
    }
    expect((await hosted.admin.users.show.query({ user: userId })).enrollments).toHaveLength(1);
  });

  it('answers 429 to the 61st request in a minute', async () => {
    const { authenticator } = await saved(hosted, clientId);
    hosted.clock.advance(60_000 - (hosted.clock.now() % 60_000));
    const browser = await signedIn(hosted, authenticator);
    const statuses: number[] = [];
    for (let count = 0; count < 60; count += 1) statuses.push((await browser.open(root)).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    hosted.clock.advance(60_000);
  });
});

describe('a passkey that its user removes', () => {
  it('is refused as unknown at the next sign-in, and its user is signed out at once', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const [passkey] = (await hosted.admin.users.show.query({ user: userId })).passkeys;
    const question = await browser.open(`${root}/passkeys/${passkey?.id}`);
    expect(question.body).toContain('It is your only passkey');
    const answer = await browser.confirm(`/passkeys/${passkey?.id}`);
    expect(answer.body).toContain('The passkey was removed');
    expect([answer.headers['set-cookie']].flat().join()).toMatch(/svc_passkey=;.*Path=\/verify\/session/);
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
    const again = await openYourData(hosted);
    expect((await again.signIn(authenticator)).headers['x-svc-error']).toBe('passkey_unknown');
    expect(await auditOf('users.removePasskey', userId)).toMatchObject([
      { operatorName: 'user', target: userId, before: { passkeyId: passkey?.id }, address: '' },
    ]);
  });
});

describe('a user who erases everything', () => {
  it.each([
    ['en', 'You are not signed in any more. Nothing was changed.'],
    ['de', 'Sie sind nicht mehr angemeldet. Es wurde nichts geändert.'],
    ['fr', 'Vous n’êtes plus connecté. Rien n’a été modifié.'],
    ['es', 'Tu sesión ha terminado. No se ha cambiado nada.'],
    ['ar', 'لم تعد مسجّل الدخول. لم يتغيّر شيء.'],
  ])(
    'is told in the language %s that nothing was changed after the sign-in has ended',
    async (code, text) => {
      const { authenticator, userId } = await saved(hosted, clientId);
      const browser = await signedIn(hosted, authenticator);
      const { action, fields } = browser.form(await browser.open(`${root}/erase`));
      hosted.clock.advance(15 * 60_000);
      const { location } = await browser.request(action, fields);
      await browser.request(`${location}&lang=${code}`);
      const page = await browser.request(location);
      expect(page.body).toMatch(new RegExp(`role="alert">${text}`));
      expect(page.body).toContain(`href="?ended&amp;lang=${code}"`);
      expect((await hosted.admin.users.show.query({ user: userId })).enrollments).toHaveLength(1);
    },
  );

  it('is not told that nothing was changed if the form is sent twice', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const { action, fields } = browser.form(await browser.open(`${root}/erase`));
    const cookie = browser.jar.get('svc_you') ?? expect.fail('no cookie');
    await browser.request(action, fields);
    browser.jar.set('svc_you', cookie);
    const page = await browser.follow(await browser.request(action, fields));
    expect(page.body).toContain('everything about its user was erased');
    expect(page.body).not.toContain('Nothing was changed');
  });

  it('is removed from all data, and the audit log names the user as actor of users.erase', async () => {
    const { authenticator, userId, sub } = await saved(hosted, clientId);
    const browser = await signedIn(hosted, authenticator);
    const answer = await browser.confirm('/erase');
    expect(answer.body).toContain('Everything was erased');
    expect(answer.body).toContain(`href="${root}?lang=de"`);
    expect((await browser.open(root)).body).toContain('Sign in with a passkey');
    await expect(hosted.admin.users.show.query({ user: userId })).rejects.toThrow('No user');
    for (const collection of ['passkeys', 'enrollments'])
      expect(await hosted.db.collection(collection).countDocuments({ userId })).toBe(0);
    const audit = await auditOf('users.erase', userId);
    expect(audit).toMatchObject([{ operatorName: 'user', target: userId, address: '' }]);
    expect(JSON.stringify(audit)).not.toContain(sub);
  });
});

it('a page of the hosted flow that mentions withdrawal links to the user data page', async () => {
  const { browser } = await saved(hosted, clientId);
  const consent = await browser.start(await addClient(hosted, partner));
  expect(consent.body).toMatch(/withdraw[\s\S]*href="\/verify\/you"/);
});
