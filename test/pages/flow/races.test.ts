import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Loss } from '../../platform/database/lossy.ts';
import { openBrowser } from '../browser.ts';
import { type Hosted, onboard, returned, startHosted } from '../hosted.ts';

let hosted: Hosted;
let own: Awaited<ReturnType<typeof onboard>>;
beforeAll(async () => {
  hosted = await startHosted();
});
beforeEach(async () => {
  // The tests count users by creation time, so each test needs its own time.
  hosted.clock.advance(1_000);
  own = await onboard(hosted);
});
afterAll(() => hosted.close());

async function reachPeople() {
  const browser = openBrowser(hosted);
  await browser.start(own.clientId);
  const sessionId = browser.sessionId();
  await browser.press({ decision: 'accept' });
  const { action, fields } = browser.form();
  const choose = (person: string) => browser.request(action, { ...fields, person });
  return { browser, sessionId, action, choose };
}

const enrollments = () => hosted.stores.enrollments.list({ partnerId: own.partnerId }, { limit: 10 });
const sessionOf = async (id: string) => (await hosted.stores.sessions.find(id)) ?? expect.fail('no session');
const eventsOf = async () =>
  (await hosted.events({ partnerId: own.partnerId })).map(({ type }) => String(type)).sort();

/** Checks that there is one user, one enrollment with consent, one event of each type, and no unfinished work. */
async function expectOneOfEach(sessionId: string) {
  const session = await sessionOf(sessionId);
  expect(session).toMatchObject({ status: 'complete', returning: false });
  expect(await enrollments()).toMatchObject([
    {
      _id: session.enrollmentId,
      userId: session.userId,
      firstSession: sessionId,
      consentedClaims: ['age_18_plus', 'country'],
    },
  ]);
  const { clock, sweepFlow, stores, db } = hosted;
  clock.advance(6_000);
  await sweepFlow();
  expect(await eventsOf()).toEqual(['enrollment.created', 'verification.session.completed']);
  expect(await stores.users.find(session.userId ?? '')).toMatchObject({ mode: 'test' });
  const users = await db.collection('users').find({ createdAt: session.authenticatedAt }).toArray();
  expect(users).toHaveLength(1);
  const settled = await sessionOf(sessionId);
  expect(settled).not.toHaveProperty('enrollmentDueAt');
  expect(settled).not.toHaveProperty('outboxAt');
}

describe('the form that authenticates a sandbox user', () => {
  it.each(['new-adult', 'adult'])(
    'yields one code, one enrollment and one event of each type if it is sent twice simultaneously for %s',
    async (person) => {
      const { sessionId, choose } = await reachPeople();
      const [one, two] = await Promise.all([choose(person), choose(person)]);
      expect(returned(one.location)).toHaveProperty('code');
      expect(two.location).toBe(one.location);
      await expectOneOfEach(sessionId);
    },
  );
});

describe('two simultaneous sessions of the same new user', () => {
  it('create one user and one enrollment, and only the later session has a returning user', async () => {
    for (const partner of await Promise.all(Array.from({ length: 6 }, () => onboard(hosted)))) {
      own = partner;
      const pair = [await reachPeople(), await reachPeople()];
      const ends = await Promise.all(pair.map(({ choose }) => choose('adult')));
      for (const { location } of ends) expect(returned(location)).toHaveProperty('code');
      const sessions = await Promise.all(pair.map(({ sessionId }) => sessionOf(sessionId)));
      expect(new Set(sessions.map(({ userId }) => userId)).size).toBe(1);
      const [enrollment, ...more] = await enrollments();
      expect(more).toEqual([]);
      for (const { _id, returning } of sessions) expect(returning).toBe(_id !== enrollment?.firstSession);
      const expected = ['enrollment.created', ...sessions.map(() => 'verification.session.completed')];
      await expect.poll(eventsOf).toEqual(expected);
    }
  });
});

describe('the hosted flow', () => {
  const writes = ['the user', 'the authentication', 'the code', 'the enrollment'];
  const cases = (['command', 'reply'] as const).flatMap((loss) =>
    writes.map((of, at): [of: string, loss: Loss, at: number] => [of, loss, at]),
  );

  it.each(cases)(
    'stores %s exactly once, and ends with a code, if the database %s for this is lost',
    async (_, loss, at) => {
      const { sessionId, choose } = await reachPeople();
      const passing = Array.from({ length: at }, () => undefined);
      hosted.losses.push(...passing, loss);
      const end = await choose('new-adult');
      expect(hosted.losses).toEqual([]);
      expect(returned(end.location)).toHaveProperty('code');
      await expectOneOfEach(sessionId);
    },
  );

  const twice: Loss[] = ['reply', 'reply'];
  it.each(writes.map((of, at): [of: string, at: number] => [of, at]))(
    'answers 503 if the reply to storing %s is lost twice, and ends with a code at the next request',
    async (_, at) => {
      const { browser, sessionId, action, choose } = await reachPeople();
      hosted.losses.push(...Array.from({ length: at }, () => undefined), ...twice);
      expect((await choose('new-adult')).status).toBe(503);
      expect(hosted.losses).toEqual([]);
      // The user sends the same form again, as after a reload. The first request may have replaced the cookie.
      const again = await choose('new-adult');
      expect(again.status).toBe(303);
      const end = again.location.includes('code=') ? again : await browser.open(action);
      expect(returned(end.location)).toHaveProperty('code');
      await expectOneOfEach(sessionId);
    },
  );
});
