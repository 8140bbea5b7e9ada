import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { codeFor, fields } from '../storefront/shop.ts';
import { receive } from './hooks.ts';
import { expectPerMinute, limitsOf, retryAfter, spender, statuses } from './limits.ts';
import { row } from './row.ts';
import { hour, minute, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  // Attempts are woken by the scheduler's jobs: no sweep comes to their help.
  world = await startWorld({ replacements: { sweepsByHand: true } });
});
afterAll(() => world.stop());
beforeEach(() => world.next());

describe('limits', () => {
  row('8 Session query', async () => {
    const { apiKey } = await world.partner();
    await expectPerMinute(world, 60, { call: () => world.session('ses_x', `Bearer ${apiKey}`), passes: 404 });
  });
  row('8 Token endpoint', async () => {
    const partner = await world.partner({ client: { tokenRequestsPerMinute: undefined } });
    const unused = { code: 'svc_code_x', codeVerifier: 'v'.repeat(43), state: '', end: new URL('http://x') };
    await expectPerMinute(world, 30, { call: () => world.exchange(partner, unused), passes: 400 });
  });
  row('8 Partner spend, per minute', async () => {
    const { partner, spend } = await spender(world, 10_000);
    expect(await world.admin.limits.show.query(limitsOf(partner))).toMatchObject({ perMinute: 60 });
    world.next();
    await expectPerMinute(world, 60, { call: spend, passes: 200 });
    expect(await world.balance(partner)).toBe(10_000 - 61 * 50);
  });
  row('8 Webhook attempts', async () => {
    const partner = await world.partner();
    const hooks = await receive(world, partner, (response) => response.writeHead(500).end());
    await world.visit(partner);
    const type = 'verification.session.completed';
    const written = async () =>
      (await hooks.delivery(type))?.attempts.filter(({ status }) => status !== null).length;
    const begun = world.clock.now();
    for (const [index, wait] of [minute, 5 * minute, hour].entries()) {
      await expect.poll(written).toBe(index + 1);
      await world.pass(wait);
    }
    await world.server.sweep();
    const attempts = (await hooks.delivery(type))?.attempts ?? [];
    expect(attempts.map(({ dueAt }) => Date.parse(dueAt) - begun)).toEqual([0, minute, 6 * minute]);
  });
  row('8 Access token lifetime', async () => {
    const bearer = `Bearer ${await world.token(await world.partner())}`;
    world.clock.advance(3599_999);
    expect((await world.userinfo(bearer)).status).toBe(200);
    world.clock.advance(1);
    expect((await world.userinfo(bearer)).status).toBe(401);
  });
  row('8 Authorization code lifetime', async () => {
    const partner = await world.partner();
    const [one, two] = [await world.visit(partner), await world.visit(partner)];
    world.clock.advance(10 * minute - 1);
    expect((await world.exchange(partner, one)).status).toBe(200);
    world.clock.advance(1);
    const late = await world.exchange(partner, two);
    expect(late).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
  row('8 Hosted session lifetime', async () => {
    const partner = await world.partner();
    const { sessionId } = await world.open(partner);
    const query = async () => (await world.session(sessionId, `Bearer ${partner.apiKey}`)).status;
    world.clock.advance(30 * minute - 1);
    expect(await query()).toBe(200);
    world.clock.advance(1);
    expect(await query()).toBe(404);
  });
  row('8 state length', async () => {
    const partner = await world.partner();
    const start = async (length: number) =>
      (await world.start(partner, { state: 's'.repeat(length) })).status;
    expect([await start(15), await start(16), await start(1024), await start(1025)]).toEqual([
      400, 302, 302, 400,
    ]);
  });
  row('8 Wallet funding minimum', async () => {
    const { partnerId } = await world.partner({ funds: 0 });
    const fund = (amount: number) =>
      world.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount, reference: 'r' });
    await expect(fund(4_999)).rejects.toThrow(/least funding is 50\.00 USD/);
    expect(await fund(5_000)).toMatchObject({ amount: 5_000, balanceAfter: 5_000 });
  });
});

describe('rules', () => {
  row('8 rule 1', async () => {
    const shop = await world.shop();
    const limits = limitsOf(shop);
    await world.admin.limits.set.mutate({ ...limits, perMinute: 3 });
    const oauth = await world.admin.clients.create.mutate({
      partnerId: shop.partnerId,
      keyId: shop.keyId,
      name: 'Site',
      redirectUris: ['http://localhost:9999/callback'],
      claims: ['age_18_plus', 'country'],
    });
    const site = { ...shop, clientId: oauth.id, clientSecret: oauth.clientSecret };
    const visit = await world.visit(site);
    const body = { enrollment_id: await world.enrollment(shop), claims: ['country'] };
    const code = fields(await codeFor(world, shop));
    const billable = [
      () => world.exchange(site, visit),
      () => world.checkbox(shop, body, 'one'),
      () => world.storefront(shop, code),
    ];
    for (const call of billable) expect((await call()).status).toBe(200);
    const next = fields(await codeFor(world, shop));
    const over = await world.storefront(shop, next);
    expect(over.status).toBe(429);
    await world.admin.limits.set.mutate({ ...limits, perMinute: 4 });
    expect((await world.storefront(shop, next)).status).toBe(200);
  });
  row('8 rule 2', async () => {
    const { partner, spend } = await spender(world, 10_000);
    await world.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 1 });
    world.next();
    // One at the end of a minute and one at the beginning of the next: the windows are the wall clock's.
    world.clock.advance(minute - 1);
    expect(statuses([await spend(), await spend()])).toEqual([200, 429]);
    world.clock.advance(1);
    expect(statuses([await spend(), await spend()])).toEqual([200, 429]);
  });
  row('8 rule 3', async () => {
    const { partner, spend } = await spender(world, 10_000);
    await world.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 1, perHour: 2 });
    world.next(hour);
    await spend();
    world.clock.advance(12_345);
    expect(retryAfter(await spend())).toBe(48);
    world.next();
    await spend();
    world.clock.advance(30_000);
    const both = await spend();
    expect(both.body).toMatchObject({ error: 'Spend limit exceeded: hour bucket' });
    expect(retryAfter(both)).toBe(3600 - 90);
  });
  row('8 rule 4', async () => {
    const { partner, spend } = await spender(world, 0);
    expect((await spend()).status).toBe(402);
    await world.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 0 });
    // Caps come before the balance, and neither moves money.
    expect((await spend()).status).toBe(429);
    expect(await world.balance(partner)).toBe(0);
  });
  row('8 rule 5', async () => {
    const partner = await world.partner({ client: { tokenRequestsPerMinute: 2 } });
    world.clock.advance(30_000);
    await world.token(partner);
    expect((await world.revoke(partner, 'x')).status).toBe(200);
    const over = await world.revoke(partner, 'x');
    expect(over).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
    expect(retryAfter(over)).toBe(30);
  });
  row('8 rule 6', async () => {
    const partner = await world.partner();
    const bearer = `Bearer ${await world.token(partner)}`;
    world.next();
    await expectPerMinute(world, 120, { call: () => world.userinfo(bearer), passes: 200 });
    const shop = await world.shop();
    world.next();
    await expectPerMinute(world, 60, { call: () => world.storefront(shop, {}), passes: 400 });
  });
  row('8 rule 7', async () => {
    const partner = await world.partner();
    const type = 'verification.session.completed';
    const hooks = await receive(world, partner, (response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end(),
    );
    await world.visit(partner);
    await expect.poll(async () => (await hooks.delivery(type))?.status).toBe('pending');
    await expect.poll(async () => (await hooks.delivery(type))?.attempts[0]?.status).toBe(429);
    // What a receiver asks for changes nothing of the schedule.
    const next = new Date(world.clock.now() + minute).toISOString();
    expect((await hooks.delivery(type))?.nextAttemptAt).toBe(next);
  });
});
