import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { codeFor, fields } from '../api/storefront/shop.ts';
import { type Harness, hour, minute, startHarness } from './harness.ts';
import { receive } from './hooks.ts';
import { expectPerMinute, limitsOf, retryAfter, spender, statuses } from './limits.ts';
import { rule } from './rule.ts';

let harness: Harness;
beforeAll(async () => {
  // Only the scheduler's jobs start attempts here; no sweep runs.
  harness = await startHarness({ replacements: { sweepsByHand: true } });
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

describe('the service', () => {
  rule(
    '8 Session query',
    'admits 60 session queries of an API key in a minute, and answers 429 to the next',
    async () => {
      const { apiKey } = await harness.partner();
      await expectPerMinute(harness, 60, {
        call: () => harness.session('ses_x', `Bearer ${apiKey}`),
        passes: 404,
      });
    },
  );
  rule(
    '8 Token endpoint',
    'admits 30 token requests of a client in a minute, and answers 429 to the next',
    async () => {
      const partner = await harness.partner({ client: { tokenRequestsPerMinute: undefined } });
      const unused = {
        code: 'svc_code_x',
        codeVerifier: 'v'.repeat(43),
      };
      await expectPerMinute(harness, 30, { call: () => harness.exchange(partner, unused), passes: 400 });
    },
  );
  rule(
    '8 Partner spend, per minute',
    'admits by default 60 charges of a partner in a minute, and answers 429 to the next',
    async () => {
      const { partner, spend } = await spender(harness, 10_000);
      expect(await harness.admin.limits.show.query(limitsOf(partner))).toMatchObject({ perMinute: 60 });
      harness.next();
      await expectPerMinute(harness, 60, { call: spend, passes: 200 });
      expect(await harness.balance(partner)).toBe(10_000 - 61 * 50);
    },
  );
  rule(
    '8 Webhook attempts',
    'sends a webhook that fails three times: immediately, 1 minute later and 5 more minutes later',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner, (response) => response.writeHead(500).end());
      await harness.verifyUser(partner);
      const type = 'verification.session.completed';
      const written = async () =>
        (await hooks.delivery(type))?.attempts.filter(({ status }) => status !== null).length;
      const begun = harness.clock.now();
      for (const [index, wait] of [minute, 5 * minute, hour].entries()) {
        await expect.poll(written).toBe(index + 1);
        await harness.pass(wait);
      }
      await harness.server.sweep();
      const attempts = (await hooks.delivery(type))?.attempts ?? [];
      expect(attempts.map(({ dueAt }) => Date.parse(dueAt) - begun)).toEqual([0, minute, 6 * minute]);
    },
  );
  rule(
    '8 Access token lifetime',
    'accepts an access token for 3600 seconds, and then answers 401',
    async () => {
      const bearer = `Bearer ${await harness.token(await harness.partner())}`;
      harness.clock.advance(3599_999);
      expect((await harness.userinfo(bearer)).status).toBe(200);
      harness.clock.advance(1);
      expect((await harness.userinfo(bearer)).status).toBe(401);
    },
  );
  rule(
    '8 Authorization code lifetime',
    'accepts an authorization code for 10 minutes, and then answers 400 invalid_grant',
    async () => {
      const partner = await harness.partner();
      const [one, two] = [await harness.verifyUser(partner), await harness.verifyUser(partner)];
      harness.clock.advance(10 * minute - 1);
      expect((await harness.exchange(partner, one)).status).toBe(200);
      harness.clock.advance(1);
      const late = await harness.exchange(partner, two);
      expect(late).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    },
  );
  rule('8 Hosted session lifetime', 'finds a session for 30 minutes, and then answers 404', async () => {
    const partner = await harness.partner();
    const { sessionId } = await harness.open(partner);
    const query = async () => (await harness.session(sessionId, `Bearer ${partner.apiKey}`)).status;
    harness.clock.advance(30 * minute - 1);
    expect(await query()).toBe(200);
    harness.clock.advance(1);
    expect(await query()).toBe(404);
  });
  rule(
    '8 state length',
    'accepts a state of 16 and of 4096 characters, and answers 400 to one of 15 or 4097',
    async () => {
      const partner = await harness.partner();
      const start = async (length: number) =>
        (await harness.start(partner, { state: 's'.repeat(length) })).status;
      expect([await start(15), await start(16), await start(4096), await start(4097)]).toEqual([
        400, 302, 302, 400,
      ]);
    },
  );
  rule(
    '8 Wallet funding minimum',
    'accepts a funding of 50.00 USD, and refuses one of 49.99 USD',
    async () => {
      const { partnerId } = await harness.partner({ funds: 0 });
      const fund = (amount: number) =>
        harness.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount, reference: 'r' });
      await expect(fund(4_999)).rejects.toThrow(/least funding is 50\.00 USD/);
      expect(await fund(5_000)).toMatchObject({ amount: 5_000, balanceAfter: 5_000 });
    },
  );
  rule(
    '8 rule 5',
    'answers 429 to a revoke request over the request limit that the token endpoint shares',
    async () => {
      const partner = await harness.partner({ client: { tokenRequestsPerMinute: 2 } });
      harness.clock.advance(30_000);
      await harness.token(partner);
      expect((await harness.revoke(partner, 'x')).status).toBe(200);
      const over = await harness.revoke(partner, 'x');
      expect(over).toMatchObject({ status: 429, body: { error: 'rate_limited' } });
      expect(retryAfter(over)).toBe(30);
    },
  );
  rule(
    '8 rule 6',
    'admits 120 userinfo requests of a client and 60 storefront exchanges of an integration in a minute',
    async () => {
      const partner = await harness.partner();
      const bearer = `Bearer ${await harness.token(partner)}`;
      harness.next();
      await expectPerMinute(harness, 120, { call: () => harness.userinfo(bearer), passes: 200 });
      const shop = await harness.shop();
      harness.next();
      await expectPerMinute(harness, 60, { call: () => harness.storefront(shop, {}), passes: 400 });
    },
  );
  rule(
    '8 rule 7',
    'keeps the retry schedule of a webhook, even if the receiver answers 429 with Retry-After',
    async () => {
      const partner = await harness.partner();
      const type = 'verification.session.completed';
      const hooks = await receive(harness, partner, (response) =>
        response.writeHead(429, { 'retry-after': '3600' }).end(),
      );
      await harness.verifyUser(partner);
      await expect.poll(async () => (await hooks.delivery(type))?.status).toBe('pending');
      await expect.poll(async () => (await hooks.delivery(type))?.attempts[0]?.status).toBe(429);
      // The receiver's answer does not change the schedule.
      const next = new Date(harness.clock.now() + minute).toISOString();
      expect((await hooks.delivery(type))?.nextAttemptAt).toBe(next);
    },
  );
});

describe('a spend cap', () => {
  rule(
    '8 rule 1',
    'counts token exchanges, checkbox requests and storefront exchanges together, and can be raised',
    async () => {
      const shop = await harness.shop();
      const limits = limitsOf(shop);
      await harness.admin.limits.set.mutate({ ...limits, perMinute: 3 });
      const oauth = await harness.admin.clients.create.mutate({
        partnerId: shop.partnerId,
        keyId: shop.keyId,
        name: 'Site',
        redirectUris: ['http://localhost:9999/callback'],
        claims: ['age_18_plus', 'country'],
      });
      const site = { ...shop, clientId: oauth.id, clientSecret: oauth.clientSecret };
      const verified = await harness.verifyUser(site);
      const body = { enrollment_id: await harness.enrollment(shop), claims: ['country'] };
      const code = fields(await codeFor(harness.server, shop));
      const billable = [
        () => harness.exchange(site, verified),
        () => harness.checkbox(shop, body, 'one'),
        () => harness.storefront(shop, code),
      ];
      for (const call of billable) expect((await call()).status).toBe(200);
      const next = fields(await codeFor(harness.server, shop));
      const over = await harness.storefront(shop, next);
      expect(over.status).toBe(429);
      await harness.admin.limits.set.mutate({ ...limits, perMinute: 4 });
      expect((await harness.storefront(shop, next)).status).toBe(200);
    },
  );
  rule('8 rule 2', 'begins a new window at each wall-clock minute', async () => {
    const { partner, spend } = await spender(harness, 10_000);
    await harness.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 1 });
    harness.next();
    // One exchange at the end of a minute and one at the start of the next, because windows follow the wall clock.
    harness.clock.advance(minute - 1);
    expect(statuses([await spend(), await spend()])).toEqual([200, 429]);
    harness.clock.advance(1);
    expect(statuses([await spend(), await spend()])).toEqual([200, 429]);
  });
  rule('8 rule 3', 'answers 429 with Retry-After until the exceeded minute or hour ends', async () => {
    const { partner, spend } = await spender(harness, 10_000);
    await harness.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 1, perHour: 2 });
    harness.next(hour);
    await spend();
    harness.clock.advance(12_345);
    expect(retryAfter(await spend())).toBe(48);
    harness.next();
    await spend();
    harness.clock.advance(30_000);
    const both = await spend();
    expect(both.body).toMatchObject({ error: 'Spend limit exceeded: hour bucket' });
    expect(retryAfter(both)).toBe(3600 - 90);
  });
  rule(
    '8 rule 4',
    'is checked before the balance: an empty wallet gets 429 at the cap, else 402, and pays nothing',
    async () => {
      const { partner, spend } = await spender(harness, 0);
      expect((await spend()).status).toBe(402);
      await harness.admin.limits.set.mutate({ ...limitsOf(partner), perMinute: 0 });
      // Caps are checked before the balance, and neither refusal moves money.
      expect((await spend()).status).toBe(429);
      expect(await harness.balance(partner)).toBe(0);
    },
  );
});
