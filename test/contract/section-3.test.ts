import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import type { TestPartner } from '../harness/partner.ts';
import { testPace } from '../harness/server.ts';
import { receive } from './hooks.ts';
import { row } from './row.ts';
import { minute, startWorld, type World } from './world.ts';

let world: World;
let partner: TestPartner;
beforeAll(async () => {
  // Attempts are woken by the scheduler's jobs: no sweep comes to their help.
  world = await startWorld({ replacements: { sweepsByHand: true } });
  partner = await world.partner();
});
afterAll(() => world.stop());
beforeEach(() => world.next());

describe('Hosted verification session', () => {
  row('3.1 (any shown state)', async () => {
    const hooks = await receive(world, partner);
    const { browser, first, sessionId, state } = await world.open(partner);
    const people = await browser.press(first, 'decision=accept');
    const end = new URL((await browser.press(people, 'person=adult')).url);
    expect(end.href.startsWith('http://localhost:9999/callback?')).toBe(true);
    expect(Object.fromEntries(end.searchParams)).toEqual({
      code: expect.stringMatching(/^svc_code_/),
      state,
      iss: world.baseUrl,
      session_id: sessionId,
    });
    const { body } = await world.session(sessionId, `Bearer ${partner.apiKey}`);
    expect(body).toMatchObject({ session: { status: 'complete' } });
    const event = await hooks.event('verification.session.completed');
    expect(event.body).toMatchObject({ session_id: sessionId, status: 'complete' });
  });
});

describe('Access token', () => {
  row('3.2 none / successful code exchange', async () => {
    await world.token(partner);
    const hooks = await receive(world, partner);
    const before = await world.balance(partner);
    const token = await world.token(partner);
    expect((await world.userinfo(`Bearer ${token}`)).status).toBe(200);
    expect(await world.balance(partner)).toBe(before - 50);
    await hooks.event('vae.resolved');
  });
  row('3.2 issued / 3600 s elapse', async () => {
    const token = await world.token(partner);
    world.clock.advance(3_599_999);
    expect((await world.userinfo(`Bearer ${token}`)).status).toBe(200);
    world.clock.advance(1);
    expect((await world.userinfo(`Bearer ${token}`)).status).toBe(401);
  });
  row('3.2 issued / revoke request with valid client credentials', async () => {
    const token = await world.token(partner);
    expect((await world.revoke(partner, token, { as: 'json' })).status).toBe(200);
    expect((await world.userinfo(`Bearer ${token}`)).status).toBe(401);
  });
  row('3.2 unknown, expired or revoked / revoke request', async () => {
    const [revoked, expired, foreign] = [
      await world.token(partner),
      await world.token(partner),
      await world.token(await world.partner()),
    ];
    await world.revoke(partner, revoked);
    expect((await world.revoke(partner, revoked)).status).toBe(200);
    expect((await world.revoke(partner, 'unknown')).status).toBe(200);
    expect((await world.revoke(partner, foreign)).status).toBe(200);
    expect((await world.userinfo(`Bearer ${foreign}`)).status).toBe(200);
    world.clock.advance(3_600_000);
    expect((await world.revoke(partner, expired)).status).toBe(200);
  });
});

describe('Webhook delivery', () => {
  /** Milliseconds in which the scheduler looks for due jobs twice. */
  const twoLooks = 2 * testPace.jobsEvery + 100;
  const type = 'verification.session.completed';

  /** A partner whose receiver answers the first `failures` attempts of the event with a redirect. */
  async function failing(failures: number) {
    const own = await world.partner();
    const hooks = await receive(world, own, (response, delivered) => {
      const { body } = delivered.at(-1) ?? {};
      const attempts = delivered.filter((one) => one.body['event_id'] === body?.['event_id']).length;
      const isGood = body?.['event'] !== type || attempts > failures;
      response.writeHead(isGood ? 200 : 302, { location: '/elsewhere' }).end();
    });
    await world.visit(own);
    return hooks;
  }
  /** The delivery once its attempt number `n` is written down. */
  async function reached(hooks: Awaited<ReturnType<typeof failing>>, n: number) {
    await expect
      .poll(async () => (await hooks.delivery(type))?.attempts.filter(({ status }) => status !== null).length)
      .toBe(n);
    const delivery = await hooks.delivery(type);
    if (!delivery) throw new Error('it was there');
    return delivery;
  }
  const later = (ms: number) => new Date(world.clock.now() + ms).toISOString();

  row('3.3 attempt 1 / sent immediately', async () => {
    const delivery = await reached(await failing(0), 1);
    const now = later(0);
    expect(delivery).toMatchObject({ status: 'delivered', nextAttemptAt: null });
    expect(delivery.attempts).toMatchObject([{ attempt: 1, trigger: 'event', dueAt: now, status: 200 }]);
  });
  row('3.3 attempt 1 / non-2xx, network error, or no answer within 10 s', async () => {
    const hooks = await failing(1);
    const delivery = await reached(hooks, 1);
    expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: later(minute) });
    expect(delivery.attempts[0]).toMatchObject({ status: 302, error: 'http' });
    await world.pass(minute - 1000);
    await sleep(twoLooks);
    expect(hooks.of(type)).toHaveLength(1);
    await world.pass(1000);
    expect(await reached(hooks, 2)).toMatchObject({ status: 'delivered' });
  });
  row('3.3 attempt 2 / failure as above', async () => {
    const hooks = await failing(2);
    await reached(hooks, 1);
    await world.pass(minute);
    expect(await reached(hooks, 2)).toMatchObject({ status: 'pending', nextAttemptAt: later(5 * minute) });
    await world.pass(5 * minute - 1000);
    await sleep(twoLooks);
    expect(hooks.of(type)).toHaveLength(2);
    await world.pass(1000);
    expect(await reached(hooks, 3)).toMatchObject({ status: 'delivered' });
    // The bytes are those of the first attempt.
    expect(new Set(hooks.of(type).map(({ raw }) => raw.toString('hex'))).size).toBe(1);
  });
  row('3.3 attempt 3 / failure as above', async () => {
    const hooks = await failing(9);
    for (const [number, wait] of [minute, 5 * minute].entries()) {
      await reached(hooks, number + 1);
      await world.pass(wait);
    }
    expect(await reached(hooks, 3)).toMatchObject({ status: 'failed', nextAttemptAt: null });
    // Neither a job nor a sweep makes a fourth.
    await world.pass(60 * minute);
    await world.server.sweep();
    await sleep(twoLooks);
    expect(hooks.of(type)).toHaveLength(3);
  });
});
