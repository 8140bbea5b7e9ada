import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, verifyAs } from './browser.ts';
import { addClient, type Hosted, onboard, returned, startHosted } from './hosted.ts';

let hosted: Hosted;
let own: Awaited<ReturnType<typeof onboard>>;
beforeAll(async () => {
  hosted = await startHosted();
});
beforeEach(async () => {
  own = await onboard(hosted);
});
afterAll(() => hosted.close());

const enrollments = () => hosted.stores.enrollments.list({ partnerId: own.partnerId }, { limit: 10 });
const created = () => hosted.events({ type: 'enrollment.created', partnerId: own.partnerId });
const consents = async () => (await enrollments()).map(({ consentedClaims }) => consentedClaims);
const sessionOf = async (id: string) => (await hosted.stores.sessions.find(id)) ?? expect.fail('no session');
const kept = async (id: string) => {
  const { userId } = await sessionOf(id);
  return (userId && (await hosted.stores.users.find(userId))?.claims) ?? {};
};

async function statusForPartner(sessionId: string) {
  const headers = { authorization: `Bearer ${own.apiKey}` };
  const { body } = await hosted.send(`/api/verify/hvf-session/${sessionId}`, { headers });
  return (JSON.parse(body) as { session: { status: string } }).session.status;
}

/** Starts a hand-off and authenticates on the phone, which then asks whether the computer belongs to the user. */
async function reachQuestion(person = 'adult', clientId = own.clientId) {
  const computer = openBrowser(hosted);
  await computer.start(clientId);
  const sessionId = computer.sessionId();
  await computer.press({ decision: 'accept' });
  const { body } = await computer.press({ decision: 'phone' });
  const phone = openBrowser(hosted, 'Mozilla/5.0 (iPhone) Version/18.0 Mobile Safari/604.1');
  await phone.open(/https:\/\/verify\.example\/verify\/p\/[0-9a-z]+/.exec(body)?.[0] ?? '');
  await phone.press({ code: /<p class="code"[^>]*>([\d ]+)</.exec(body)?.[1] ?? '' });
  await phone.press({ person });
  await computer.open(`/verify/session/${sessionId}`);
  return { computer, phone, sessionId };
}
type Pair = Awaited<ReturnType<typeof reachQuestion>>;

const refusals: [string, (pair: Pair) => Promise<unknown>][] = [
  ['No on the phone', ({ phone }) => phone.press({ decision: 'deny' })],
  ['a cancel on the phone', ({ phone }) => phone.press({ decision: 'cancel' })],
  ['a cancel at the computer', ({ computer }) => computer.press({ decision: 'cancel' })],
];

describe('a hand-off before the user confirms the computer', () => {
  it('creates no event, enrollment, claim or subject for the partner', async () => {
    const { sessionId } = await reachQuestion();
    expect(await created()).toEqual([]);
    expect(await enrollments()).toEqual([]);
    expect(await kept(sessionId)).toEqual({});
    expect(await statusForPartner(sessionId)).toBe('pending');
    expect(await sessionOf(sessionId)).not.toHaveProperty('sub');
  });

  it('records no failure for a rejected document until the user confirms; then the partner gets document_rejected', async () => {
    const { computer, phone, sessionId } = await reachQuestion('rejected');
    expect(phone.page.body).toContain('Is this your computer?');
    expect((await sessionOf(sessionId)).failure).toBeUndefined();
    expect((await phone.press({ decision: 'confirm' })).body).toContain('This verification has ended');
    const end = await computer.open(`/verify/session/${sessionId}`);
    expect(returned(end.location)['error_description']).toMatch(/^document_rejected/);
  });

  it.each(refusals)('shares nothing about the user if it ends with %s', async (_what, refuse) => {
    const pair = await reachQuestion();
    await refuse(pair);
    const end = await pair.computer.open(`/verify/session/${pair.sessionId}`);
    expect(returned(end.location)).toMatchObject({ error: 'verification_failed' });
    hosted.clock.advance(60_000);
    await hosted.sweepFlow();
    expect(await created()).toEqual([]);
    expect(await enrollments()).toEqual([]);
    expect(await statusForPartner(pair.sessionId)).toBe('pending');
    const sent = await hosted.events({ partnerId: own.partnerId });
    expect(sent.map(({ type }) => type)).toEqual(['verification.session.failed']);
    expect(JSON.stringify(sent.map(({ body }) => body as unknown))).not.toMatch(/user_id|enr_/);
  });

  it('enrolls no user who is erased before the confirmation', async () => {
    const { phone, sessionId } = await reachQuestion();
    const { userId = '' } = await sessionOf(sessionId);
    await hosted.admin.users.erase.mutate({ userId });
    expect((await phone.press({ decision: 'confirm' })).body).toContain('This verification has ended');
    expect(await enrollments()).toEqual([]);
  });

  it('does not make a user who denied it a returning user', async () => {
    const first = await reachQuestion();
    await first.phone.press({ decision: 'deny' });
    const { sessionId } = await verifyAs(hosted, own.clientId, 'adult');
    expect(await sessionOf(sessionId)).toMatchObject({ returning: false });
    await expect.poll(created).toHaveLength(1);
  });
});

describe('a hand-off after the user has confirmed the computer', () => {
  it('enrolls the user, and records the consent when the session completes', async () => {
    const { computer, phone, sessionId } = await reachQuestion();
    await phone.press({ decision: 'confirm' });
    await expect.poll(created).toHaveLength(1);
    expect(await consents()).toEqual([[]]);
    expect(await statusForPartner(sessionId)).toBe('verified');
    const end = await computer.open(`/verify/session/${sessionId}`);
    expect(returned(end.location)).toHaveProperty('code');
    expect(await consents()).toEqual([['age_18_plus', 'country']]);
    expect(await sessionOf(sessionId)).toMatchObject({ returning: false });
  });
});

describe('consent to share claims', () => {
  it('is not recorded in a session that ends without a code', async () => {
    await verifyAs(hosted, own.clientId, 'rejected');
    await expect.poll(created).toHaveLength(1);
    expect(await consents()).toEqual([[]]);
  });

  it('covers further claims only after a session that asks for them completes', async () => {
    const adult = openBrowser(hosted);
    await adult.start(own.clientId, { scope: 'age_18_plus' });
    await adult.press({ decision: 'accept' });
    await adult.press({ person: 'adult' });
    expect(await consents()).toEqual([['age_18_plus']]);
    const wider = await reachQuestion();
    await wider.phone.press({ decision: 'confirm' });
    await wider.computer.press({ decision: 'cancel' });
    expect((await sessionOf(wider.sessionId)).failure).toMatchObject({ reason: 'abandoned' });
    expect(await consents()).toEqual([['age_18_plus']]);
    await verifyAs(hosted, own.clientId, 'adult');
    expect(await consents()).toEqual([['age_18_plus', 'country']]);
  });

  it('is recorded by the next request or the sweep if a crash prevented its recording', async () => {
    const { browser, sessionId, answer } = await verifyAs(hosted, own.clientId, 'adult');
    const sessions = hosted.db.collection<{ _id: string }>('sessions');
    const isSettled = () => expect.poll(() => sessionOf(sessionId)).not.toHaveProperty('enrollmentDueAt');
    const cut = () =>
      sessions.updateOne({ _id: sessionId }, { $set: { enrollmentDueAt: new Date(hosted.clock.now()) } });
    const forget = () =>
      hosted.db
        .collection('enrollments')
        .updateMany({ partnerId: own.partnerId }, { $set: { consentedClaims: [] } });
    await isSettled();
    for (const resume of [
      async () => expect((await browser.open(`/verify/session/${sessionId}`)).location).toBe(answer.location),
      async () => {
        hosted.clock.advance(6_000);
        await hosted.sweepFlow();
      },
    ]) {
      await Promise.all([cut(), forget()]);
      await resume();
      expect(await consents()).toEqual([['age_18_plus', 'country']]);
      await isSettled();
    }
  });

  it('is not part of an enrollment that the sweep creates after an interrupted authentication', async () => {
    const { sessionId, phone } = await reachQuestion();
    const enroll = hosted.stores.enrollments.enroll;
    hosted.stores.enrollments.enroll = async () => Promise.reject(new Error('cut off'));
    await phone
      .press({ decision: 'confirm' })
      .finally(() => Object.assign(hosted.stores.enrollments, { enroll }));
    expect(await sessionOf(sessionId)).toMatchObject({ status: 'verified' });
    expect(await enrollments()).toEqual([]);
    hosted.clock.advance(6_000);
    await hosted.sweepFlow();
    expect(await enrollments()).toMatchObject([{ firstSession: sessionId, consentedClaims: [] }]);
    await hosted.sweepFlow();
    expect(await created()).toHaveLength(1);
  });
});

describe('the page of a session that ended without a code', () => {
  it.each([
    ['before authentication', 'Nothing about you was shared.', 'decline'],
    ['after authentication', 'None of the answers was shared.', 'accept'],
  ])('says if the session ended %s: "%s"', async (_when, text, decision) => {
    const browser = openBrowser(hosted);
    await browser.start(own.clientId);
    const sessionId = browser.sessionId();
    await browser.press({ decision });
    if (decision === 'accept') await browser.press({ person: 'rejected' });
    hosted.clock.advance(31 * 60_000);
    expect((await browser.open(`/verify/session/${sessionId}`)).body).toContain(text);
  });
});

describe('a cancel that is sent simultaneously with the authentication form', () => {
  it('enrolls the user only if the authentication form was processed first', async () => {
    const partners = await Promise.all(Array.from({ length: 12 }, () => onboard(hosted)));
    for (const [round, partner] of partners.entries()) {
      own = partner;
      const browser = openBrowser(hosted);
      await browser.start(own.clientId);
      const sessionId = browser.sessionId();
      await browser.press({ decision: 'accept' });
      const { action, fields } = browser.form();
      const forms = [{ person: 'adult' }, { decision: 'cancel' }];
      if (round % 2) forms.reverse();
      await Promise.all(forms.map((form) => browser.request(action, { ...fields, ...form })));
      const { status } = await sessionOf(sessionId);
      await expect.poll(enrollments).toHaveLength(status === 'pending' ? 0 : 1);
      await expect.poll(created).toHaveLength(status === 'pending' ? 0 : 1);
      expect((await consents()).flat()).toHaveLength(status === 'complete' ? 2 : 0);
    }
  });
});

describe('a duplicate identity', () => {
  it('blocks the enrollment at each client of the partner, until an operator unblocks it', async () => {
    const second = await addClient(hosted, own);
    await verifyAs(hosted, own.clientId, 'duplicate');
    await verifyAs(hosted, second, 'duplicate');
    expect((await enrollments()).map(({ status }) => status)).toEqual(['blocked', 'blocked']);
    const [{ _id: enrollmentId = '' } = {}] = (await enrollments()).filter(
      ({ clientId }) => clientId === second,
    );
    await hosted.admin.enrollments.unblock.mutate({ enrollmentId });
    await verifyAs(hosted, second, 'duplicate');
    expect((await hosted.stores.enrollments.find(enrollmentId))?.status).toBe('active');
  });
});
