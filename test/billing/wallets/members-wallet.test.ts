import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedInMember, signedIn } from '../../console/portal/signed-in.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
let owner: SignedInMember;
beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server, { funds: 0 });
  owner = await signedIn(server, partner.partnerId, 'owner');
});
afterAll(() => server.stop());

const wallet = (mode: 'test' | 'live') => ({ partnerId: partner.partnerId, mode });
const balance = async (mode: 'test' | 'live') =>
  (await server.admin.wallets.show.query(wallet(mode))).balance;

describe('a refill by a member', () => {
  it('fills the empty test wallet to 1,000 dollars in the name of the member, so that the exchange succeeds', async () => {
    const verified = await completeSession(server, partner);
    expect((await exchangeCode(server, partner, verified)).status).toBe(402);
    const { html } = await owner.browser.open('/wallet?mode=test');
    const csrf = await owner.csrf();
    expect(html).toContain('value="refill"');
    expect((await owner.browser.post('/wallet?mode=test', { csrf, act: 'refill' })).status).toBe(303);
    expect(await balance('test')).toBe(100_000);
    expect(await balance('live')).toBe(0);
    expect((await exchangeCode(server, partner, verified)).status).toBe(200);
    const { entries } = await server.admin.wallets.statement.query(wallet('test'));
    expect(entries.find(({ kind }) => kind === 'funding')).toMatchObject({
      actor: owner.id,
      amount: 100_000,
    });
    const acts = await owner.api.members.acts.query({ partnerId: partner.partnerId });
    // One entry, which the ledger has.
    expect(acts.flatMap(({ action, outcome }) => (action === 'wallets.refill' ? [outcome] : []))).toEqual([
      'changed',
    ]);
    expect((await owner.browser.open('/wallet?mode=live')).html).not.toContain('value="refill"');
  });

  it('is refused while the wallet is nearly full, and after ten on a day', async () => {
    const refill = () => owner.api.wallets.refill.mutate({ partnerId: partner.partnerId });
    const spend = (amount: number) =>
      server.admin.wallets.adjust.mutate({ ...wallet('test'), amount: -amount, reason: 'spent' });
    expect(await refusal(refill())).toBe('refused');
    await spend(50_000);
    const both = await Promise.allSettled([refill(), refill()]);
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
    for (let done = 0; done < 9; done += 1) {
      await spend((await balance('test')) - 50_000);
      await refill().catch(() => undefined);
    }
    await spend(10_000);
    await expect(refill()).rejects.toThrow('10 times today');
  });
});

describe('a ceiling of the operator', () => {
  it('bounds the spend caps of members, lowers a higher cap, and is named where it refuses', async () => {
    clock.advance(60_000);
    const limits = server.admin.limits;
    const member = await signedIn(server, partner.partnerId, 'finance');
    await limits.set.mutate({ ...wallet('live'), perMinute: 500, perHour: 5_000 });
    const set = await limits.set.mutate({ ...wallet('live'), ceilingPerMinute: 100 });
    expect(set).toMatchObject({
      perMinute: 100,
      perHour: 5_000,
      ceilingPerMinute: 100,
      ceilingPerHour: null,
    });
    const raise = member.api.limits.set.mutate({ ...wallet('live'), perMinute: 101 });
    await expect(raise).rejects.toThrow('at most 100 a minute; ask support');
    expect(await member.api.limits.set.mutate({ ...wallet('live'), perMinute: 99 })).toMatchObject({
      perMinute: 99,
    });
    const own = member.api.limits.set.mutate({ ...wallet('live'), ceilingPerMinute: null });
    expect(await refusal(own)).toBe('bad_input');
    expect((await member.browser.open('/wallet?mode=live')).html).toContain('Ceiling of the operator');
    expect(await limits.show.query(wallet('test'))).toMatchObject({ ceilingPerMinute: null });
    const removed = await limits.set.mutate({ ...wallet('live'), ceilingPerMinute: null });
    expect(removed).toMatchObject({ perMinute: 99, ceilingPerMinute: null });
  });
});
