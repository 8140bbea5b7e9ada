import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { within } from '../harness/time-limits.ts';
import { type Harness, hour, minute, startHarness } from './harness.ts';
import { receive } from './hooks.ts';
import { limitsOf, many, otherAnswers, retryAfter, spender } from './limits.ts';
import { rule } from './rule.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('the service', () => {
  rule(
    '8 Partner spend, per hour',
    'admits by default 1,000 charges of a partner in an hour, and answers 429 to the next',
    async () => {
      const { partner, spend } = await spender(harness, 100_000);
      expect(await harness.admin.limits.show.query(limitsOf(partner))).toMatchObject({ perHour: 1000 });
      await harness.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 5000 });
      harness.next(hour);
      harness.clock.advance(20 * minute);
      expect(otherAnswers(await many(1000, spend), 200)).toEqual([]);
      harness.clock.advance(10 * minute);
      const over = await spend();
      expect(over).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: hour bucket' } });
      expect(retryAfter(over)).toBe(1800);
      harness.next(hour);
      expect((await spend()).status).toBe(200);
      expect(await harness.balance(partner)).toBe(100_000 - 1001 * 50);
    },
  );
  rule(
    '8 Webhook response time',
    'ends a webhook attempt with the error timeout after 10 s without an answer',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner, () => undefined);
      await harness.verifyUser(partner);
      const type = 'verification.session.completed';
      await hooks.event(type);
      const attempt = async () => (await hooks.delivery(type))?.attempts[0];
      await expect.poll(async () => (await attempt())?.error, { timeout: within(20_000) }).toBe('timeout');
      expect((await attempt())?.durationMs).toBeGreaterThanOrEqual(9_900);
    },
  );
});
