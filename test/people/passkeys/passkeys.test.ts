import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestPartner } from '../../harness/partner.ts';
import { adminToken } from '../../harness/server.ts';
import { openBrowser } from '../../pages/browser.ts';
import { addClient, baseUrl, type Hosted, onboard, startHosted } from '../../pages/hosted.ts';
import { newAuthenticator, openPasskeyBrowser, saved, verifyAgain } from './passkey-browser.ts';

const day = 86_400_000;

let hosted: Hosted;
let partner: TestPartner;
let clientId: string;
beforeAll(async () => {
  hosted = await startHosted({ env: { SVC_PASSKEYS: 'on' } });
  partner = await onboard(hosted);
  ({ clientId } = partner);
});
afterAll(() => hosted.close());

const timelineOf = async (sessionId: string) =>
  (await hosted.stores.sessions.find(sessionId))?.timeline.map(({ event, note }) => [event, note]);
const ceremonies = async () => {
  const headers = { authorization: `Bearer ${adminToken}` };
  const text = await (await fetch(`${hosted.adminUrl}/metrics`, { headers })).text();
  return [...text.matchAll(/^svc_passkeys_total\{ceremony="(\w+)",outcome="(\w+)"\} (\d+)$/gm)].map(
    ([, ceremony, outcome, count]) => `${ceremony} ${outcome} ${count}`,
  );
};

describe('the offer of a passkey', () => {
  it('is not shown to a person of the sandbox whom all who test share, and the page says so', async () => {
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const page = await browser.press({ decision: 'accept', passkey: 'can' });
    expect(page.body).toContain('shared by all who test');
    const end = await browser.press({ person: 'adult' });
    expect(end.location).toContain('code=');
    expect(browser.passkeyForm()).toBeUndefined();
  });

  it('is shown between the verification and the code, and not again after the user has declined it', async () => {
    const browser = openPasskeyBrowser(hosted);
    const page = await browser.verify(clientId);
    expect(page.status).toBe(200);
    expect(page.body).toContain('Save a passkey');
    const session = await hosted.stores.sessions.find(browser.sessionId());
    expect(session).toMatchObject({ status: 'verified', passkey: 'offered' });
    const end = await browser.decline();
    expect(end.location).toContain('code=');
    const events = (await timelineOf(browser.sessionId()))?.map(([event]) => event);
    expect(events?.slice(-3)).toEqual(['verified', 'passkey_declined', 'completed']);
    const again = await verifyAgain(hosted, browser, { clientId, userId: session?.userId ?? '' });
    expect(again.location).toContain('code=');
  });

  it('is not shown if the user verified at a phone, because another person may be at the computer', async () => {
    const computer = openPasskeyBrowser(hosted);
    await computer.start(clientId);
    await computer.press({ decision: 'accept', passkey: 'can' });
    const { body } = await computer.press({ decision: 'phone' });
    const phone = openBrowser(hosted);
    await phone.open(/https:\/\/verify\.example\/verify\/p\/[0-9a-z]+/.exec(body)?.[0] ?? '');
    await phone.press({ code: /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '' });
    await phone.press({ person: 'adult' });
    await phone.press({ decision: 'confirm' });
    const end = await computer.open(`/verify/session/${computer.sessionId()}`);
    expect(end.location).toContain('code=');
  });

  it('is not shown if the browser did not report support for passkeys', async () => {
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    await browser.press({ decision: 'accept' });
    expect((await browser.press({ person: 'new-adult' })).location).toContain('code=');
  });

  it('has a user name and a user handle that contain neither the user id nor the subject', async () => {
    const browser = openPasskeyBrowser(hosted);
    await browser.verify(clientId);
    const { options } = browser.passkeyForm() ?? expect.fail('no question');
    const today = new Date(hosted.clock.now()).toISOString().slice(0, 10);
    expect(options).toMatchObject({
      rp: { id: 'verify.example' },
      user: { name: `SVC Identity, ${today}` },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const session = await hosted.stores.sessions.find(browser.sessionId());
    expect(JSON.stringify(options)).not.toContain(session?.userId);
    expect(JSON.stringify(options)).not.toContain(session?.sub);
  });

  it("names the user's existing passkeys, so that a device makes only one", async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await verifyAgain(hosted, browser, { clientId, userId });
    expect(JSON.stringify(browser.passkeyForm()?.options)).toContain(authenticator.id);
  });

  it('is not shown if the user saved a passkey in this browser, but is shown to another user', async () => {
    const { browser, userId } = await saved(hosted, clientId);
    expect((await verifyAgain(hosted, browser, { clientId, userId })).location).toContain('code=');
    expect((await browser.verify(clientId)).body).toContain('Save a passkey');
  });
});

describe('a return by passkey', () => {
  it('takes one page and one form, and yields the same user, the same subject and a code', async () => {
    const { authenticator, userId, sub } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.status).toBe(303);
    expect(answer.location).toContain('code=');
    const session = await hosted.stores.sessions.find(browser.sessionId());
    expect(session).toMatchObject({ userId, sub, source: 'passkey', returning: true });
    expect(await timelineOf(browser.sessionId())).toEqual([
      ['started', undefined],
      ['consented', undefined],
      ['authenticated', 'passkey'],
      ['verified', 'claims were still fresh'],
      ['completed', undefined],
    ]);
  });

  it('yields the same redirect if the form is sent twice', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer, again } = await browser.sendPasskey((options) => authenticator.get(options));
    expect((await again()).location).toBe(answer.location);
  });

  it('identifies the user at another partner too, where the user has another subject', async () => {
    const { authenticator, userId, sub } = await saved(hosted, clientId);
    const other = await onboard(hosted);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(other.clientId);
    await browser.sendPasskey((options) => authenticator.get(options));
    const session = await hosted.stores.sessions.find(browser.sessionId());
    expect(session).toMatchObject({ userId, status: 'complete', returning: false });
    expect(session?.sub).not.toBe(sub);
  });

  it('leads to a new verification, and then to a code, if the claims are older than the client allows', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const strict = await onboard(hosted, { maxVerificationAgeSeconds: 60 });
    hosted.clock.advance(61_000);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(strict.clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.location).toBe(`${baseUrl}/verify/session/${browser.sessionId()}`);
    const page = await browser.open(answer.location);
    expect(page.body).toContain('value="adult"');
    expect((await browser.press({ person: 'adult' })).location).toContain('code=');
    expect((await timelineOf(browser.sessionId()))?.slice(1, 3)).toEqual([
      ['consented', 'claims of the passkey are too old'],
      ['authenticated', 'sandbox'],
    ]);
  });

  it('counts with OpenID Connect only if the user was verified within max_age', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const own = await onboard(hosted, { openid: true });
    hosted.clock.advance(61_000);
    const openid = { scope: 'openid age_18_plus country', response_type: 'code' };
    const sources = [];
    for (const max_age of ['0', '60', '3600', undefined]) {
      const browser = openPasskeyBrowser(hosted);
      await browser.start(own.clientId, { ...openid, max_age });
      const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
      const isReturn = answer.location.includes('code=');
      if (!isReturn) await browser.open(answer.location);
      const end = isReturn ? answer : await browser.press({ person: 'new-adult' });
      expect(end.location).toContain('code=');
      const session = await hosted.stores.sessions.find(browser.sessionId());
      expect(session?.openid?.authenticatedAt).toEqual(session?.authenticatedAt);
      sources.push(session?.source);
    }
    expect(sources).toEqual(['sandbox', 'sandbox', 'passkey', 'passkey']);
  });

  it('succeeds with a new challenge on a page that is older than two minutes', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    const page = await browser.start(clientId);
    const { action, fields } = browser.passkeyForm() ?? expect.fail('no passkey');
    hosted.clock.advance(121_000);
    const options = await browser.request(action.replace(/use$/, 'options'));
    expect(options.headers['cache-control']).toBe('no-store');
    const credential = authenticator.get(JSON.parse(options.body));
    expect(page.status).toBe(200);
    expect((await browser.request(action, { ...fields, credential })).location).toContain('code=');
  });
});

describe("a user's passkey", () => {
  type Refusal = Parameters<ReturnType<typeof newAuthenticator>['get']>[1];
  // platform/webauthn/relying-party.test.ts has the other forgeries.
  const forged: [string, Refusal][] = [
    ['from another site', { origin: 'https://verify.example.evil.example' }],
    ['with a counter that goes back', { counter: 0 }],
    ['for another user', { userHandle: 'AAAA' }],
  ];

  it.each(forged)('is refused with 401 if it is used %s', async (_what, forgery) => {
    const { authenticator } = await saved(hosted, clientId);
    const first = openPasskeyBrowser(hosted);
    await first.start(clientId);
    await first.sendPasskey((options) => authenticator.get(options));
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options, forgery));
    expect(answer.status).toBe(401);
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    expect(answer.body).toContain('Your passkey was not accepted');
    expect(answer.body).toContain(`href="/verify/session/${browser.sessionId()}"`);
    expect((await hosted.stores.sessions.find(browser.sessionId()))?.timeline).toHaveLength(1);
  });

  const used = async (answer: (options: never, other: never) => string) => {
    const browser = openPasskeyBrowser(hosted);
    const other = openPasskeyBrowser(hosted);
    await Promise.all([browser.start(clientId), other.start(clientId)]);
    const { options } = other.passkeyForm() ?? expect.fail('no passkey');
    const sent = await browser.sendPasskey((own) => answer(own as never, options as never));
    return sent.answer.headers['x-svc-error'];
  };

  it('is refused with passkey_refused if it answers the challenge of another session', async () => {
    const { authenticator } = await saved(hosted, clientId);
    expect(await used((_own, other) => authenticator.get(other))).toBe('passkey_refused');
  });

  it('is refused with passkey_refused if it answers a page that is older than two minutes', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const answer = used((own) => {
      hosted.clock.advance(121_000);
      return authenticator.get(own);
    });
    expect(await answer).toBe('passkey_refused');
  });

  it('changes nothing if the same answer is sent again after the session has continued', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const strict = await onboard(hosted, { maxVerificationAgeSeconds: 60 });
    hosted.clock.advance(61_000);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(strict.clientId);
    const { again } = await browser.sendPasskey((options) => authenticator.get(options));
    const timelineBefore = await timelineOf(browser.sessionId());
    await again();
    expect(await timelineOf(browser.sessionId())).toEqual(timelineBefore);
  });

  it('is accepted once if two simultaneous answers have the same counter', async () => {
    const { userId } = await saved(hosted, clientId);
    const { passkeys } = hosted.stores;
    const [read] = await passkeys.ofUser(userId);
    if (!read) expect.fail('no passkey');
    const at = new Date(hosted.clock.now());
    const answered = {
      issuedAt: at.getTime(),
      use: { counter: 1, synced: false },
      at,
      needsNewChallenge: false,
    };
    const both = [passkeys.noteUse(read, answered), passkeys.noteUse(read, answered)];
    expect((await Promise.all(both)).sort()).toEqual([false, true]);
  });

  it('is refused with passkey_refused if a simultaneous answer with the same counter was stored first', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const { passkeys } = hosted.stores;
    const { noteUse } = passkeys;
    vi.spyOn(passkeys, 'noteUse').mockImplementationOnce(async (read, answered) => {
      expect(await noteUse(read, answered)).toBe(true);
      return noteUse(read, answered);
    });
    expect(await used((own) => authenticator.get(own))).toBe('passkey_refused');
  });

  it('is refused with passkey_unknown if its user was erased but the passkey is still stored', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const erased = { $set: { erasedAt: new Date(hosted.clock.now()) } };
    await hosted.db.collection<{ _id: string }>('users').updateOne({ _id: userId }, erased);
    expect(await used((own) => authenticator.get(own))).toBe('passkey_unknown');
  });

  it('leads back to the session page instead of the partner if its user has a duplicate identity', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    await hosted.db
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { duplicate: true } });
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.location).toBe(`${baseUrl}/verify/session/${browser.sessionId()}`);
  });

  it('is refused with passkey_unknown if no user has saved it', async () => {
    expect(await used((own) => newAuthenticator().get(own))).toBe('passkey_unknown');
  });

  it('is refused with passkey_refused if the answer is not the JSON of a browser', async () => {
    for (const text of ['', '{}', '[', 'null', '{"id":"a"}'])
      expect(await used(() => text)).toBe('passkey_refused');
  });

  it('is refused with passkey_other_mode if it belongs to the other mode', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const passkeys = hosted.db.collection('passkeys');
    await passkeys.updateMany({ userId }, { $set: { mode: 'live' } });
    expect(await used((own) => authenticator.get(own))).toBe('passkey_other_mode');
  });

  it('gets 401 in another browser, and 403 from another site or in a form without its CSRF token', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { action, fields, options } = browser.passkeyForm() ?? expect.fail('no passkey');
    const credential = authenticator.get(options);
    const stranger = openPasskeyBrowser(hosted);
    expect((await stranger.request(action, { ...fields, credential })).status).toBe(401);
    expect((await browser.request(action, { ...fields, credential, csrf: 'x' })).status).toBe(403);
    const foreign = { origin: 'https://evil.example' };
    expect((await browser.request(action, { ...fields, credential }, foreign)).status).toBe(403);
    expect((await browser.request(action, { ...fields, credential })).location).toContain('code=');
  });

  it('is refused with passkey_refused at a client that does not allow passkeys, and its pages do not mention them', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const closed = await addClient(hosted, partner);
    await hosted.admin.clients.update.mutate({ clientId: closed, passkeys: false });
    const allowed = openPasskeyBrowser(hosted);
    await allowed.start(clientId);
    const form = allowed.passkeyForm() ?? expect.fail('no passkey');
    const browser = openPasskeyBrowser(hosted);
    const page = await browser.start(closed);
    expect(page.body).not.toContain('passkey');
    expect(page.headers['content-security-policy']).not.toContain('script-src');
    const { fields } = browser.form(page);
    const action = `/verify/session/${browser.sessionId()}/passkey/use`;
    const credential = authenticator.get(form.options);
    const answer = await browser.request(action, { ...fields, credential });
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    const options = await browser.request(action.replace(/use$/, 'options'));
    expect(options.status).toBe(409);
  });
});

it('a client whose passkeys an operator turned off refuses an answer to an earlier page with passkey_refused', async () => {
  const { authenticator } = await saved(hosted, clientId);
  const closing = await addClient(hosted, partner);
  const browser = openPasskeyBrowser(hosted);
  await browser.start(closing);
  await hosted.admin.clients.update.mutate({ clientId: closing, passkeys: false });
  const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
  expect(answer.headers['x-svc-error']).toBe('passkey_refused');
});

describe('a new passkey', () => {
  it('is refused with passkey_refused if it is created from another site, and the user continues without it', async () => {
    const browser = openPasskeyBrowser(hosted);
    await browser.verify(clientId, 'new-adult');
    const forgery = { origin: 'https://evil.example' };
    const { answer } = await browser.sendPasskey((options) => newAuthenticator().create(options, forgery));
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    await browser.open(`/verify/session/${browser.sessionId()}`);
    expect((await browser.decline()).location).toContain('code=');
  });

  it('is refused with passkey_refused, and no longer offered, if the user has ten passkeys', async () => {
    const { userId } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await verifyAgain(hosted, browser, { clientId, userId });
    const passkeys = hosted.db.collection<{ _id: string }>('passkeys');
    const first = await passkeys.findOne({ userId });
    await passkeys.insertMany(Array.from({ length: 9 }, (_, n) => ({ ...first, _id: `pky_${n}` })));
    const { answer } = await browser.sendPasskey((options) => newAuthenticator().create(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    expect(await passkeys.countDocuments({ userId })).toBe(10);
    const other = openPasskeyBrowser(hosted);
    const end = await verifyAgain(hosted, other, { clientId, userId });
    expect(end.location).toContain('code=');
    await passkeys.deleteMany({ userId });
  });

  it('is refused with passkey_refused if it already belongs to another user', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await browser.verify(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.create(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
  });

  it('is refused with passkey_refused, and not stored, in a session whose user was erased', async () => {
    const browser = openPasskeyBrowser(hosted);
    await browser.verify(clientId, 'new-adult');
    const session = await hosted.stores.sessions.find(browser.sessionId());
    await hosted.admin.users.erase.mutate({ userId: session?.userId ?? '' });
    const { answer } = await browser.sendPasskey((options) => newAuthenticator().create(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    expect(await hosted.db.collection('passkeys').countDocuments({ userId: session?.userId })).toBe(0);
  });
});

describe('an operator', () => {
  it('sees the passkeys of a user, and can remove one', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    const { passkeys } = await hosted.admin.users.show.query({ user: userId });
    expect(passkeys).toEqual([
      { id: expect.stringMatching(/^pky_/), createdAt: expect.any(String), lastUsedAt: null, synced: false },
    ]);
    const [{ id } = { id: '' }] = passkeys;
    expect(await hosted.admin.users.show.query({ user: id })).toMatchObject({ id: userId });
    const { userId: other } = await saved(hosted, clientId);
    const ofOther = hosted.admin.users.removePasskey.mutate({ userId: other, passkeyId: id });
    await expect(ofOther).rejects.toMatchObject({ data: { error: 'not_found' } });
    await hosted.admin.users.removePasskey.mutate({ userId, passkeyId: id });
    const twice = hosted.admin.users.removePasskey.mutate({ userId, passkeyId: id });
    await expect(twice).rejects.toMatchObject({ data: { error: 'not_found' } });
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_unknown');
    expect(answer.body).toMatch(
      /go on without it[\s\S]*class="button primary"[^>]*>Go on without the passkey</,
    );
    const entry = { action: 'users.removePasskey', 'input.passkeyId': id };
    expect(await hosted.db.collection('auditLog').countDocuments(entry)).toBeGreaterThan(0);
  });

  it('sees the number of passkey ceremonies by outcome in the metrics', async () => {
    await saved(hosted, clientId);
    expect(await ceremonies()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^save done /),
        expect.stringMatching(/^return done /),
        expect.stringMatching(/^return refused /),
      ]),
    );
  });
});

describe('an erased user', () => {
  it('has no passkeys, and an old passkey is refused with passkey_unknown', async () => {
    const { authenticator, userId } = await saved(hosted, clientId);
    await hosted.admin.users.erase.mutate({ userId });
    expect(await hosted.db.collection('passkeys').countDocuments({ userId })).toBe(0);
    const browser = openPasskeyBrowser(hosted);
    await browser.start(clientId);
    const { answer } = await browser.sendPasskey((options) => authenticator.get(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_unknown');
  });
});

describe('a user without a stable identity', () => {
  const purgeOf = async (userId: string) => {
    const find = async (name: string, filter: object) =>
      (await hosted.db.collection(name).findOne(filter))?.['purgeAt']?.getTime() as number | undefined;
    return {
      user: await find('users', { _id: userId }),
      identity: await find('users', { userId }),
      enrollment: await find('enrollments', { userId }),
      passkey: await find('passkeys', { userId }),
    };
  };

  it('is deleted within a day if the new passkey is refused', async () => {
    const { authenticator } = await saved(hosted, clientId);
    const browser = openPasskeyBrowser(hosted);
    await browser.verify(clientId, 'new-adult');
    const within = hosted.clock.now() + day;
    const userId = (await hosted.stores.sessions.find(browser.sessionId()))?.userId ?? '';
    const { answer } = await browser.sendPasskey((options) => authenticator.create(options));
    expect(answer.headers['x-svc-error']).toBe('passkey_refused');
    expect((await purgeOf(userId)).user).toBeLessThanOrEqual(within);
  });

  it('is deleted within a day even if the removal of the passkey was interrupted', async () => {
    const { userId } = await saved(hosted, clientId);
    const [{ id } = { id: '' }] = (await hosted.admin.users.show.query({ user: userId })).passkeys;
    const away = vi.spyOn(hosted.stores.users, 'keepUntil').mockRejectedValueOnce(new Error('away'));
    const removed = { userId, passkeyId: id };
    await expect(hosted.admin.users.removePasskey.mutate(removed)).rejects.toThrow();
    expect(away).toHaveBeenCalledOnce();
    await hosted.admin.users.removePasskey.mutate(removed);
    const { user, passkey } = await purgeOf(userId);
    expect({ user, passkey }).toEqual({ user: hosted.clock.now() + day, passkey: undefined });
  });

  it('is deleted within a day even if two passkeys were removed simultaneously', async () => {
    const { userId } = await saved(hosted, clientId);
    const passkeys = hosted.db.collection<{ _id: string }>('passkeys');
    const first = await passkeys.findOne({ userId });
    const ids = [first?._id ?? '', `pky_${userId}`];
    await passkeys.insertOne({ ...first, _id: `pky_${userId}` });
    await Promise.all(ids.map((passkeyId) => hosted.admin.users.removePasskey.mutate({ userId, passkeyId })));
    expect((await purgeOf(userId)).user).toBe(hosted.clock.now() + day);
  });

  it('is stored with the claims as long as a passkey exists, and for a day after its removal', async () => {
    const browser = openPasskeyBrowser(hosted);
    const authenticator = newAuthenticator();
    await browser.verify(clientId, 'new-adult');
    const userId = (await hosted.stores.sessions.find(browser.sessionId()))?.userId ?? '';
    const soon = new Date(hosted.clock.now() + day);
    const users = hosted.db.collection('users');
    await users.updateMany({ $or: [{ _id: userId as never }, { userId }] }, { $set: { purgeAt: soon } });
    await browser.sendPasskey((options) => authenticator.create(options));
    const kept = hosted.clock.now() + 365 * day;
    await expect
      .poll(() => purgeOf(userId))
      .toEqual({ user: kept, identity: kept, enrollment: kept, passkey: kept });
    const [passkey] = (await hosted.admin.users.show.query({ user: userId })).passkeys;
    await hosted.admin.users.removePasskey.mutate({ userId, passkeyId: passkey?.id ?? '' });
    const within = hosted.clock.now() + day;
    expect(await purgeOf(userId)).toEqual({
      user: within,
      identity: within,
      enrollment: within,
      passkey: undefined,
    });
  });
});
