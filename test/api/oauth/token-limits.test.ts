import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Code, TestPartner } from '../../harness/partner.ts';
import { type Answer, momentAt, type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
let hours = 0;

beforeAll(async () => {
  oauth = await startOAuth();
});
beforeEach(() => {
  // Each test starts 55 minutes and 10 s into a new hour.
  hours += 1;
  oauth.clock.set(momentAt(hours * 60 + 55, 10));
});
afterAll(() => oauth.stop());

const unknownCode = { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) };
const manyRequests = { tokenRequestsPerMinute: 100_000 };
const retryAfter = ({ headers }: Answer) => headers.get('retry-after');

async function setLimits(
  partner: TestPartner,
  limits: { perMinute?: number; perHour?: number },
): Promise<void> {
  await oauth.server.admin.limits.set.mutate({ partnerId: partner.partnerId, mode: 'test', ...limits });
}

/** Asserts that the code is still usable: its exchange succeeds and makes one charge of 50 cents. */
async function expectUsable(partner: TestPartner, verified: Code): Promise<void> {
  const { balance, entries } = await oauth.wallet(partner);
  expect((await oauth.exchange(partner, verified)).status).toBe(200);
  expect(await oauth.wallet(partner)).toEqual({ balance: balance - 50, entries: entries + 1 });
}

describe('POST /api/oauth/token', () => {
  it('answers 402 payment_required if the wallet is empty; after a funding, the code can be exchanged', async () => {
    const partner = await oauth.partner({ funds: 0 });
    const verified = await oauth.verified(partner);
    expect(await oauth.exchange(partner, verified)).toMatchObject({ status: 402, error: 'payment_required' });
    expect(await oauth.wallet(partner)).toEqual({ balance: 0, entries: 0 });

    const { partnerId } = partner;
    await oauth.server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5_000, reference: 'r' });
    await expectUsable(partner, verified);
  });

  it('answers 402 payment_required if the balance is one cent short, and 200 if it is exact', async () => {
    const partner = await oauth.partner({ funds: 5_000 });
    const { partnerId } = partner;
    const { admin } = oauth.server;
    const verified = await oauth.verified(partner);
    await admin.wallets.adjust.mutate({ partnerId, mode: 'test', amount: -4_951, reason: 'test' });
    expect((await oauth.exchange(partner, verified)).status).toBe(402);
    await admin.wallets.adjust.mutate({ partnerId, mode: 'test', amount: 1, reason: 'test' });
    await expectUsable(partner, verified);
    expect((await oauth.wallet(partner)).balance).toBe(0);
  });

  it("answers 402 payment_required below the partner's own price, even if the wallet of the other mode has money", async () => {
    const partner = await oauth.partner({ funds: 5_000 });
    const { partnerId } = partner;
    const { admin } = oauth.server;
    await admin.wallets.fund.mutate({ partnerId, mode: 'live', amount: 100_000, reference: 'live' });
    await admin.prices.set.mutate({ partnerId, kind: 'token', cents: 2_600 });
    expect((await oauth.exchange(partner, await oauth.verified(partner))).status).toBe(200);
    expect((await oauth.exchange(partner, await oauth.verified(partner))).status).toBe(402);
    expect((await oauth.wallet(partner)).balance).toBe(2_400);
  });
});

describe('POST /api/oauth/token at its request limit', () => {
  const limited = {
    status: 429,
    error: 'rate_limited',
    error_description: 'Token endpoint rate limit exceeded',
  };

  it('answers 429 to a client over its limit for the rest of the minute, and charges nothing', async () => {
    const partner = await oauth.partner({ client: { tokenRequestsPerMinute: 3 } });
    const verified = await oauth.verified(partner);
    for (let n = 0; n < 3; n += 1) {
      expect((await oauth.exchange(partner, unknownCode)).error).toBe('invalid_grant');
    }
    const first = await oauth.exchange(partner, verified);
    expect(first).toMatchObject(limited);
    expect(retryAfter(first)).toBe('50');
    expect(await oauth.wallet(partner)).toEqual({ balance: 10_000, entries: 1 });

    oauth.clock.advance(49_001);
    const last = await oauth.exchange(partner, verified);
    expect(last).toMatchObject(limited);
    expect(retryAfter(last)).toBe('1');

    oauth.clock.advance(999);
    await expectUsable(partner, verified);
  });

  it("answers 429 for each client separately, and by the client's own limit", async () => {
    const [partner, other] = [await oauth.partner(), await oauth.partner()];
    const { clientId } = partner;
    await oauth.server.admin.clients.update.mutate({ clientId, tokenRequestsPerMinute: 2 });
    for (let n = 0; n < 2; n += 1) await oauth.exchange(partner, unknownCode);
    expect(await oauth.exchange(partner, unknownCode)).toMatchObject(limited);
    expect(await oauth.exchange(other, unknownCode)).toMatchObject({ error: 'invalid_grant' });

    await oauth.server.admin.clients.update.mutate({ clientId, tokenRequestsPerMinute: 40 });
    expect(await oauth.exchange(partner, unknownCode)).toMatchObject({ error: 'invalid_grant' });
  });

  it('answers 429 to each parallel request over the limit', async () => {
    const partner = await oauth.partner({ client: { tokenRequestsPerMinute: 3 } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => oauth.exchange(partner, unknownCode)));
    expect(answers.filter(({ error }) => error === 'invalid_grant')).toHaveLength(3);
    expect(answers.filter(({ error }) => error === 'rate_limited')).toHaveLength(3);
  });
});

describe('POST /api/oauth/token after wrong client secrets', () => {
  it('answers 429 in place of 401 after 20 wrong secrets a minute; the right secret is still accepted', async () => {
    const partner = await oauth.partner();
    const verified = await oauth.verified(partner);
    const wrong = { client_secret: 'svc_secret_wrong' };
    for (let n = 0; n < 20; n += 1) expect((await oauth.exchange(partner, verified, wrong)).status).toBe(401);

    const answer = await oauth.exchange(partner, verified, wrong);
    expect(answer).toMatchObject({
      status: 429,
      error: 'rate_limited',
      error_description: 'Too many wrong client secrets',
    });
    expect(retryAfter(answer)).toBe('50');
    for (let n = 0; n < 20; n += 1) await oauth.exchange(partner, verified, wrong);

    await expectUsable(partner, verified);
    for (let n = 0; n < 29; n += 1) {
      expect((await oauth.exchange(partner, unknownCode)).error).toBe('invalid_grant');
    }
    oauth.clock.advance(50_000);
    expect((await oauth.exchange(partner, verified, wrong)).status).toBe(401);
  });
});

describe('POST /api/oauth/token at a spend cap', () => {
  const capped = (bucket: string) => ({
    status: 429,
    error: 'rate_limited',
    error_description: `Spend limit exceeded: ${bucket} bucket`,
  });

  async function spendTwo(limits: { perMinute?: number; perHour?: number }) {
    const partner = await oauth.partner({ client: manyRequests });
    await setLimits(partner, limits);
    for (let n = 0; n < 2; n += 1) {
      expect((await oauth.exchange(partner, await oauth.verified(partner))).status).toBe(200);
    }
    const verified = await oauth.verified(partner);
    const before = await oauth.wallet(partner);
    const refused = await oauth.exchange(partner, verified);
    expect(await oauth.wallet(partner)).toEqual(before);
    return { partner, verified, refused };
  }

  it('answers 429 that names the minute cap, with Retry-After until the next minute begins', async () => {
    const { partner, verified, refused } = await spendTwo({ perMinute: 2 });
    expect(refused).toMatchObject(capped('minute'));
    expect(retryAfter(refused)).toBe('50');
    expect(refused.headers.get('ratelimit-policy')).toBe('"minute";q=2;w=60');
    expect(refused.headers.get('ratelimit')).toBe('"minute";r=0;t=50');

    oauth.clock.advance(49_999);
    expect(retryAfter(await oauth.exchange(partner, verified))).toBe('1');
    oauth.clock.advance(1);
    await expectUsable(partner, verified);
  });

  it('answers 429 that names the hour cap, with Retry-After until the next hour begins', async () => {
    const { partner, verified, refused } = await spendTwo({ perHour: 2 });
    expect(refused).toMatchObject(capped('hour'));
    expect(retryAfter(refused)).toBe('290');
    expect(refused.headers.get('ratelimit-policy')).toBe('"hour";q=2;w=3600');
    expect(refused.headers.get('ratelimit')).toBe('"hour";r=0;t=290');

    oauth.clock.advance(289_999);
    expect(await oauth.exchange(partner, verified)).toMatchObject(capped('hour'));
    oauth.clock.advance(1);
    await expectUsable(partner, verified);
  });

  it('answers 429 that names the hour cap if both caps are exceeded', async () => {
    const { refused } = await spendTwo({ perMinute: 2, perHour: 2 });
    expect(refused).toMatchObject(capped('hour'));
    expect(retryAfter(refused)).toBe('290');
  });

  it('answers 429, and not 402, if the wallet is empty too', async () => {
    const partner = await oauth.partner({ funds: 0 });
    await setLimits(partner, { perMinute: 0 });
    expect(await oauth.exchange(partner, await oauth.verified(partner))).toMatchObject(capped('minute'));
  });

  it('does not count refused exchanges, and answers 200 as soon as the cap is raised', async () => {
    const { partner, verified } = await spendTwo({ perMinute: 2 });
    for (let n = 0; n < 5; n += 1) await oauth.exchange(partner, verified);
    await setLimits(partner, { perMinute: 3 });
    await expectUsable(partner, verified);
    const { used } = await oauth.server.admin.limits.show.query({
      partnerId: partner.partnerId,
      mode: 'test',
    });
    expect(used).toEqual({ minute: 3, hour: 3 });
  });

  it('has by default caps of 60 exchanges a minute and 1,000 an hour', async () => {
    const { partnerId } = await oauth.partner();
    expect(await oauth.server.admin.limits.show.query({ partnerId, mode: 'test' })).toMatchObject({
      perMinute: 60,
      perHour: 1000,
    });
  });
});

describe('POST /api/oauth/token', () => {
  it('answers 503 while the process does not trust its clock; afterwards the code can be exchanged', async () => {
    const partner = await oauth.partner();
    const verified = await oauth.verified(partner);
    oauth.trust(false);
    const answer = await oauth.exchange(partner, verified);
    oauth.trust(true);
    expect(answer).toMatchObject({ status: 503, error: 'service_unavailable' });
    expect(retryAfter(answer)).toBe('5');
    expect(await oauth.wallet(partner)).toEqual({ balance: 10_000, entries: 1 });
    await expectUsable(partner, verified);
  });
});

describe('the exchange of a code', () => {
  it.each([
    [402, 'payment_required', 'low-balance', null],
    [429, 'rate_limited', 'minute-cap', '50'],
    [429, 'rate_limited', 'hour-cap', '290'],
    [503, 'service_unavailable', 'unavailable', '5'],
  ])('gets %i %s for the sandbox user %s, and moves no money', async (status, error, person, seconds) => {
    const partner = await oauth.partner();
    const answer = await oauth.exchange(partner, await oauth.verified(partner, person));
    expect(answer).toMatchObject({ status, error });
    expect(retryAfter(answer)).toBe(seconds);
    expect(await oauth.wallet(partner)).toEqual({ balance: 10_000, entries: 1 });
    expect((await oauth.exchange(partner, await oauth.verified(partner))).status).toBe(200);
  });
});
