import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import type { TestPartner } from '../harness/partner.ts';
import { within } from '../harness/time-limits.ts';
import { type Harness, minute, startHarness } from './harness.ts';
import { receive } from './hooks.ts';
import { rule } from './rule.ts';

/** How often the scheduler looks for due jobs, in milliseconds. */
const jobsEvery = 100;

let harness: Harness;
let partner: TestPartner;
beforeAll(async () => {
  // Only the scheduler's jobs start attempts here; no sweep runs.
  harness = await startHarness({ replacements: { sweepsByHand: true, pace: { jobsEvery } } });
  partner = await harness.partner();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('a session that the user completes', () => {
  rule(
    '3.1 (any shown state)',
    'redirects the user to redirect_uri with a code, gets the status complete, and sends verification.session.completed',
    async () => {
      const hooks = await receive(harness, partner);
      const { browser, first, sessionId, state } = await harness.open(partner);
      const people = await browser.press(first, 'decision=accept');
      const end = new URL((await browser.press(people, 'person=adult')).url);
      expect(end.href.startsWith('http://localhost:9999/callback?')).toBe(true);
      expect(Object.fromEntries(end.searchParams)).toEqual({
        code: expect.stringMatching(/^svc_code_/),
        state,
        iss: harness.baseUrl,
        session_id: sessionId,
      });
      const { body } = await harness.session(sessionId, `Bearer ${partner.apiKey}`);
      expect(body).toMatchObject({ session: { status: 'complete' } });
      const event = await hooks.event('verification.session.completed');
      expect(event.body).toMatchObject({ session_id: sessionId, status: 'complete' });
    },
  );
});

describe('an access token', () => {
  rule(
    '3.2 none / successful code exchange',
    'is issued by a code exchange, which costs 50 cents and sends vae.resolved for a returning user',
    async () => {
      await harness.token(partner);
      const hooks = await receive(harness, partner);
      const before = await harness.balance(partner);
      const token = await harness.token(partner);
      expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(200);
      expect(await harness.balance(partner)).toBe(before - 50);
      await hooks.event('vae.resolved');
    },
  );
  rule('3.2 issued / 3600 s elapse', 'gets 200 from userinfo for 3600 s, and then 401', async () => {
    const token = await harness.token(partner);
    harness.clock.advance(3_599_999);
    expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(200);
    harness.clock.advance(1);
    expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(401);
  });
  rule(
    '3.2 issued / revoke request with valid client credentials',
    'gets 401 from userinfo after its client has revoked it',
    async () => {
      const token = await harness.token(partner);
      expect((await harness.revoke(partner, token, { as: 'json' })).status).toBe(200);
      expect((await harness.userinfo(`Bearer ${token}`)).status).toBe(401);
    },
  );
  rule(
    '3.2 unknown, expired or revoked / revoke request',
    'gets 200 from the revoke endpoint even if it is revoked, unknown, expired or of another client',
    async () => {
      const [revoked, expired, foreign] = [
        await harness.token(partner),
        await harness.token(partner),
        await harness.token(await harness.partner()),
      ];
      await harness.revoke(partner, revoked);
      expect((await harness.revoke(partner, revoked)).status).toBe(200);
      expect((await harness.revoke(partner, 'unknown')).status).toBe(200);
      expect((await harness.revoke(partner, foreign)).status).toBe(200);
      expect((await harness.userinfo(`Bearer ${foreign}`)).status).toBe(200);
      harness.clock.advance(3_600_000);
      expect((await harness.revoke(partner, expired)).status).toBe(200);
    },
  );
});

describe('a webhook delivery', () => {
  /** The time in milliseconds of two polls of the scheduler. */
  const twoLooks = 2 * jobsEvery + 100;
  const type = 'verification.session.completed';

  /** Creates a partner whose receiver answers the first `failures` attempts of the event with a redirect. */
  async function failing(failures: number) {
    const own = await harness.partner();
    const hooks = await receive(harness, own, (response, delivered) => {
      const { body } = delivered.at(-1) ?? {};
      const attempts = delivered.filter((one) => one.body['event_id'] === body?.['event_id']).length;
      const isGood = body?.['event'] !== type || attempts > failures;
      response.writeHead(isGood ? 200 : 302, { location: '/elsewhere' }).end();
    });
    await harness.verifyUser(own);
    return hooks;
  }
  /** Waits until attempt number `n` is recorded, and returns the delivery. */
  async function reached(hooks: Awaited<ReturnType<typeof failing>>, n: number) {
    const recorded = async () =>
      (await hooks.delivery(type))?.attempts.filter(({ status }) => status !== null).length;
    await expect.poll(recorded, { timeout: within(20_000) }).toBe(n);
    const delivery = await hooks.delivery(type);
    if (!delivery) throw new Error('it was there');
    return delivery;
  }
  const later = (ms: number) => new Date(harness.clock.now() + ms).toISOString();

  rule(
    '3.3 attempt 1 / sent immediately',
    'becomes delivered by one immediate attempt if the receiver answers 200',
    async () => {
      const delivery = await reached(await failing(0), 1);
      const now = later(0);
      expect(delivery).toMatchObject({ status: 'delivered', nextAttemptAt: null });
      expect(delivery.attempts).toMatchObject([{ attempt: 1, trigger: 'event', dueAt: now, status: 200 }]);
    },
  );
  rule(
    '3.3 attempt 1 / non-2xx, network error, or no answer within 10 s',
    'is attempted again 1 minute after an answer of 302, and not earlier',
    async () => {
      const hooks = await failing(1);
      const delivery = await reached(hooks, 1);
      expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: later(minute) });
      expect(delivery.attempts[0]).toMatchObject({ status: 302, error: 'http' });
      await harness.pass(minute - 1000);
      await sleep(twoLooks);
      expect(hooks.of(type)).toHaveLength(1);
      await harness.pass(1000);
      expect(await reached(hooks, 2)).toMatchObject({ status: 'delivered' });
    },
  );
  rule(
    '3.3 attempt 2 / failure as above',
    'is attempted a third time 5 minutes after the second failure, with the same bytes',
    async () => {
      const hooks = await failing(2);
      await reached(hooks, 1);
      await harness.pass(minute);
      expect(await reached(hooks, 2)).toMatchObject({ status: 'pending', nextAttemptAt: later(5 * minute) });
      await harness.pass(5 * minute - 1000);
      await sleep(twoLooks);
      expect(hooks.of(type)).toHaveLength(2);
      await harness.pass(1000);
      expect(await reached(hooks, 3)).toMatchObject({ status: 'delivered' });
      // The bytes equal those of the first attempt.
      expect(new Set(hooks.of(type).map(({ raw }) => raw.toString('hex'))).size).toBe(1);
    },
  );
  rule(
    '3.3 attempt 3 / failure as above',
    'becomes failed after the third failure, and is not attempted again',
    async () => {
      const hooks = await failing(9);
      for (const [number, wait] of [minute, 5 * minute].entries()) {
        await reached(hooks, number + 1);
        await harness.pass(wait);
      }
      expect(await reached(hooks, 3)).toMatchObject({ status: 'failed', nextAttemptAt: null });
      // Neither a job nor a sweep starts a fourth attempt.
      await harness.pass(60 * minute);
      await harness.server.sweep();
      await sleep(twoLooks);
      expect(hooks.of(type)).toHaveLength(3);
    },
  );
});
