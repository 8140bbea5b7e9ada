import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { schemaOf } from '../../contracts/events.ts';
import type { StoredEvent } from '../../server/webhooks/delivery/delivery.ts';
import { adult } from '../harness/claims.ts';
import { openBrowser, verifyAs } from '../pages/browser.ts';
import { addClient, baseUrl, type Hosted, onboard, returned, startHosted, state } from '../pages/hosted.ts';

let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted();
});
afterAll(() => hosted.close());

async function grantOf(location: string) {
  return hosted.grants.load(returned(location)['code'] ?? '');
}

describe('the sandbox user', () => {
  // contract/people.test.ts has all of them.
  it.each([
    ['adult', 'the claims of an adult', adult, { status: 'active' }],
    ['duplicate', 'a blocked enrollment', { ...adult, assurance_level: 3 }, { status: 'blocked' }],
    [
      'client-inactive',
      'the claims of an adult and a refusal',
      adult,
      { status: 'active', rehearse: 'client-inactive' },
    ],
  ])(
    '%s is redirected to the partner with a code that stands for %s',
    async (person, _, evaluatedClaims, enrollment) => {
      const { clientId } = await onboard(hosted);
      const { answer, sessionId } = await verifyAs(hosted, clientId, person);
      expect(answer.status).toBe(303);
      const { code, ...rest } = returned(answer.location);
      const session_id = expect.stringMatching(/^ses_\w{22}$/) as unknown;
      expect(rest).toEqual({ tenant: 'a/b', state, iss: baseUrl, session_id });
      expect(code).toMatch(/^svc_code_/);
      const grant = await grantOf(answer.location);
      expect(grant).toMatchObject({ sessionId, clientId, returning: false });
      expect(grant).toMatchObject({ scope: ['age_18_plus', 'shoe_size', 'country'], evaluatedClaims });
      expect(grant?.enrollment).toEqual({ id: expect.stringMatching(/^enr_/), ...enrollment });
      const enrolled = await hosted.stores.enrollments.find(grant?.enrollment.id ?? '');
      expect(enrolled?.consentedClaims).toEqual(['age_18_plus', 'country']);
    },
  );
});

describe('a sandbox user with a rejected document', () => {
  it('is redirected with verification_failed, and the event of the failure has the reason document_rejected', async () => {
    const reason = 'document_rejected';
    const { clientId, partnerId } = await onboard(hosted);
    const { answer, sessionId } = await verifyAs(hosted, clientId, 'rejected');
    expect(returned(answer.location)).toMatchObject({ error: 'verification_failed', state, iss: baseUrl });
    expect(returned(answer.location)['code']).toBeUndefined();
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session).toMatchObject({ status: 'authenticated', failure: { reason } });
    const event = async () => {
      const [found] = await hosted.events({ type: 'verification.session.failed', sessionId });
      return found && (JSON.parse(found['body']) as unknown);
    };
    await expect.poll(event).toEqual({
      event: 'verification.session.failed',
      event_id: expect.stringMatching(/^evt_/),
      partner_id: partnerId,
      session_id: sessionId,
      failure_reason: reason,
      failed_at: expect.any(String),
    });
  });
});

describe('a returning user', () => {
  it('consents and authenticates, and is not verified again', async () => {
    const { clientId } = await onboard(hosted);
    const first = await verifyAs(hosted, clientId, 'adult');
    const second = await verifyAs(hosted, clientId, 'adult');
    const [one, two] = await Promise.all([grantOf(first.answer.location), grantOf(second.answer.location)]);
    expect(two).toMatchObject({ sub: one?.sub, enrollment: one?.enrollment, returning: true });
    const session = await hosted.stores.sessions.find(second.sessionId);
    expect(session?.timeline.map(({ event, note }) => [event, note])).toEqual([
      ['started', undefined],
      ['consented', undefined],
      ['authenticated', 'sandbox'],
      ['verified', 'claims were still fresh'],
      ['completed', undefined],
    ]);
    const created = () => hosted.events({ type: 'enrollment.created', sub: one?.sub });
    await expect.poll(created).toHaveLength(1);
  });

  it('is verified again after 365 days', async () => {
    const { clientId } = await onboard(hosted);
    await verifyAs(hosted, clientId, 'adult');
    hosted.clock.advance(366 * 86_400_000);
    const { sessionId } = await verifyAs(hosted, clientId, 'adult');
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session?.timeline.map(({ note }) => note)).toContain('by the source');
  });

  it('is verified again after the maximum age that the client sets, and not for another client', async () => {
    const here = await onboard(hosted, { maxVerificationAgeSeconds: 90 * 86_400 });
    const there = await addClient(hosted, here);
    await verifyAs(hosted, here.clientId, 'adult');
    hosted.clock.advance(91 * 86_400_000);
    const howVerified = async (clientId: string) => {
      const { sessionId } = await verifyAs(hosted, clientId, 'adult');
      const session = await hosted.stores.sessions.find(sessionId);
      return session?.timeline.find(({ event }) => event === 'verified')?.note;
    };
    expect(await howVerified(there)).toBe('claims were still fresh');
    expect(await howVerified(here.clientId)).toBe('by the source');
    expect(await howVerified(here.clientId)).toBe('claims were still fresh');
  });

  it('does not result from the sandbox user new-adult: each session has a new user with another subject', async () => {
    const { clientId } = await onboard(hosted);
    const first = await verifyAs(hosted, clientId, 'new-adult');
    const second = await verifyAs(hosted, clientId, 'new-adult');
    const [one, two] = await Promise.all([grantOf(first.answer.location), grantOf(second.answer.location)]);
    expect(two?.returning).toBe(false);
    expect(two?.sub).not.toBe(one?.sub);
  });

  it('has one subject at all clients of a partner, and an enrollment at each', async () => {
    const here = await onboard(hosted);
    const there = await addClient(hosted, here);
    const first = await verifyAs(hosted, here.clientId, 'adult');
    const second = await verifyAs(hosted, there, 'adult');
    const [one, two] = await Promise.all([grantOf(first.answer.location), grantOf(second.answer.location)]);
    expect(two?.sub).toBe(one?.sub);
    expect(two?.enrollment.id).not.toBe(one?.enrollment.id);
    expect(two?.returning).toBe(false);
    const session = await hosted.stores.sessions.find(second.sessionId);
    expect(session?.timeline.map(({ note }) => note)).toContain('claims were still fresh');
  });

  it('has another subject at another partner', async () => {
    const here = await onboard(hosted);
    const there = await onboard(hosted);
    const first = await verifyAs(hosted, here.clientId, 'adult');
    const second = await verifyAs(hosted, there.clientId, 'adult');
    const [one, two] = await Promise.all([grantOf(first.answer.location), grantOf(second.answer.location)]);
    expect(two?.returning).toBe(false);
    expect(two?.sub).not.toBe(one?.sub);
    const users = await Promise.all(
      [first, second].map(async ({ sessionId }) => (await hosted.stores.sessions.find(sessionId))?.userId),
    );
    expect(users[0]).not.toBe(users[1]);
  });
});

describe('events of the hosted flow', () => {
  it('are enrollment.created and verification.session.completed after a new user is verified, each with a body of its documented schema', async () => {
    const { clientId, partnerId, keyId } = await onboard(hosted);
    const { answer, sessionId } = await verifyAs(hosted, clientId, 'teen');
    const grant = await grantOf(answer.location);
    const types = async () => (await hosted.events({ sessionId })).map(({ type }) => String(type)).sort();
    await expect.poll(types).toEqual(['enrollment.created', 'verification.session.completed']);
    for (const event of await hosted.events({ sessionId })) {
      expect(event).toMatchObject({ partnerId, keyId, mode: 'test' });
      const { body, _id, type } = event as unknown as StoredEvent;
      expect(schemaOf(type).parse(JSON.parse(body))).toMatchObject({
        event: type,
        event_id: _id,
        partner_id: partnerId,
        user_id: grant?.sub,
      });
    }
  });

  it('are published by the sweep if their first publication failed', async () => {
    const { clientId } = await onboard(hosted);
    const insert = vi.spyOn(hosted.eventStore, 'insert').mockRejectedValue(new MongoNetworkError('away'));
    const { sessionId } = await verifyAs(hosted, clientId, 'adult');
    await expect.poll(() => insert.mock.calls.length).toBeGreaterThan(0);
    insert.mockRestore();
    const completed = () => hosted.events({ type: 'verification.session.completed', sessionId });
    expect(await completed()).toEqual([]);
    expect((await hosted.stores.sessions.find(sessionId))?.purgeAt).toBeUndefined();
    hosted.clock.advance(10_000);
    await hosted.sweepFlow();
    expect(await completed()).toHaveLength(1);
    const session = await hosted.stores.sessions.find(sessionId);
    expect(session?.outboxAt).toBeUndefined();
    expect(session?.purgeAt).toEqual(new Date((session?.expiresAt.getTime() ?? 0) + 30 * 86_400_000));
  });
});

it('a session is deleted a day after its expiry if it is unfinished, and after 30 days if it failed', async () => {
  const { clientId } = await onboard(hosted);
  const browser = openBrowser(hosted);
  await browser.start(clientId);
  await browser.press({ decision: 'accept' });
  const daysKept = async () => {
    const session = await hosted.stores.sessions.find(browser.sessionId());
    return ((session?.purgeAt?.getTime() ?? 0) - (session?.expiresAt.getTime() ?? 0)) / 86_400_000;
  };
  expect(await daysKept()).toBe(1);
  await browser.press({ decision: 'cancel' });
  await expect.poll(daysKept).toBe(30);
});
