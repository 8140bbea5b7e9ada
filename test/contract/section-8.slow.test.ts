import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { within } from '../harness/time-limits.ts';
import { receive } from './hooks.ts';
import { limitsOf, many, retryAfter, spender, statuses } from './limits.ts';
import { row } from './row.ts';
import { hour, minute, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.next());

describe('limits that take thousands of requests, or real time', () => {
  row('8 Partner spend, per hour', async () => {
    const { partner, spend } = await spender(world, 100_000);
    expect(await world.admin.limits.show.query(limitsOf(partner))).toMatchObject({ perHour: 1000 });
    await world.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 5000 });
    world.next(hour);
    world.clock.advance(20 * minute);
    expect(new Set(statuses(await many(1000, spend)))).toEqual(new Set([200]));
    world.clock.advance(10 * minute);
    const over = await spend();
    expect(over).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: hour bucket' } });
    expect(retryAfter(over)).toBe(1800);
    world.next(hour);
    expect((await spend()).status).toBe(200);
    expect(await world.balance(partner)).toBe(100_000 - 1001 * 50);
  });
  row('8 Webhook response time', async () => {
    const partner = await world.partner();
    const hooks = await receive(world, partner, () => undefined);
    await world.visit(partner);
    const type = 'verification.session.completed';
    await hooks.event(type);
    const attempt = async () => (await hooks.delivery(type))?.attempts[0];
    await expect.poll(async () => (await attempt())?.error, { timeout: within(20_000) }).toBe('timeout');
    expect((await attempt())?.durationMs).toBeGreaterThanOrEqual(9_900);
  });
});
