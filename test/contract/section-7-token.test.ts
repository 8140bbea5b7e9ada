import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { OAuthError } from '../../contracts/oauth.ts';
import type { TestPartner, Visit } from '../harness/partner.ts';
import { breakable } from './breakable.ts';
import type { Answer } from './conformance.ts';
import { row } from './row.ts';
import { hour, minute, startWorld, type World } from './world.ts';

let world: World;
let partner: TestPartner;
const fault = breakable();
beforeAll(async () => {
  world = await startWorld({ replacements: fault.replacements });
  partner = await world.partner({ funds: 100_000 });
});
afterAll(() => world.stop());
beforeEach(() => world.next());

/** The answer is this status and error, and nothing was debited. */
async function expectRefused(ask: () => Promise<Answer>, expected: `${number} ${string}`, by = partner) {
  const before = await world.balance(by);
  const answer = await ask();
  const { error } = OAuthError.parse(answer.body);
  expect(`${answer.status} ${error}`).toBe(expected);
  expect(await world.balance(by)).toBe(before);
  return answer;
}

describe('token endpoint errors', () => {
  row('7.4 400 / invalid_request', async () => {
    const visit = await world.visit(partner);
    const leave = () => world.exchange(partner, visit, { code_verifier: 'short' });
    await expectRefused(leave, '400 invalid_request');
    expect((await world.exchange(partner, visit)).status).toBe(200);
  });

  row('7.4 400 / invalid_grant', async () => {
    const [expired, used, mismatched] = [
      await world.visit(partner),
      await world.visit(partner),
      await world.visit(partner),
    ];
    expect((await world.exchange(partner, used)).status).toBe(200);
    const again = await expectRefused(() => world.exchange(partner, used), '400 invalid_grant');
    expect(again.body).toMatchObject({
      error_description: expect.stringMatching(/^Authorization code already used at .*; charge txn_/),
    });
    const wrong = { code_verifier: 'w'.repeat(43) };
    await expectRefused(() => world.exchange(partner, mismatched, wrong), '400 invalid_grant');
    world.clock.advance(10 * minute);
    await expectRefused(() => world.exchange(partner, expired), '400 invalid_grant');
  });

  row('7.4 400 / unsupported_grant_type', async () => {
    const visit = await world.visit(partner);
    const ask = () => world.exchange(partner, visit, { grant_type: 'refresh_token' });
    await expectRefused(ask, '400 unsupported_grant_type');
    const nothing = { code: undefined, redirect_uri: undefined, code_verifier: undefined };
    const changes = { ...nothing, client_id: undefined, client_secret: undefined };
    const alone = () => world.exchange(partner, visit, { ...changes, grant_type: 'client_credentials' });
    await expectRefused(alone, '400 unsupported_grant_type');
    expect((await world.exchange(partner, visit)).status).toBe(200);
  });

  row('7.4 400 / invalid_scope', async () => {
    const own = await world.partner();
    const visit = await world.visit(own, 'adult', 'age_18_plus country');
    await world.admin.clients.update.mutate({ clientId: own.clientId, claims: ['age_18_plus'] });
    await expectRefused(() => world.exchange(own, visit), '400 invalid_scope', own);
  });

  row('7.4 400 / invalid_redirect_uri', async () => {
    const visit = await world.visit(partner);
    const ask = () => world.exchange(partner, visit, { redirect_uri: 'http://localhost:9999/callback?' });
    await expectRefused(ask, '400 invalid_redirect_uri');
  });

  row('7.4 401 / invalid_client', async () => {
    const visit = await world.visit(partner);
    for (const changes of [{ client_id: 'cli_unknown' }, { client_secret: 'wrong' }])
      await expectRefused(() => world.exchange(partner, visit, changes), '401 invalid_client');
  });

  row('7.4 402 / payment_required', async () => {
    const poor = await world.partner({ funds: 0 });
    const visit = await world.visit(poor);
    await expectRefused(() => world.exchange(poor, visit), '402 payment_required', poor);
    const { partnerId } = poor;
    await world.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5000, reference: 'now' });
    expect((await world.exchange(poor, visit)).status).toBe(200);
    const rehearsed = await world.visit(partner, 'low-balance');
    await expectRefused(() => world.exchange(partner, rehearsed), '402 payment_required');
  });

  row('7.4 403 / access_denied', async () => {
    const visit = await world.visit(partner, 'duplicate');
    await expectRefused(() => world.exchange(partner, visit), '403 access_denied');
  });

  row('7.4 403 / client_inactive', async () => {
    const own = await world.partner();
    const visit = await world.visit(own);
    await world.admin.partners.suspend.mutate({ partnerId: own.partnerId });
    await expectRefused(() => world.exchange(own, visit), '403 client_inactive', own);
    const rehearsed = await world.visit(partner, 'client-inactive');
    await expectRefused(() => world.exchange(partner, rehearsed), '403 client_inactive');
  });

  row('7.4 429 / rate_limited', async () => {
    const own = await world.partner({ client: { tokenRequestsPerMinute: 2 } });
    const limits = { partnerId: own.partnerId, mode: 'test' as const };
    await world.admin.limits.set.mutate({ ...limits, perMinute: 1, perHour: 2 });
    const expectCapped = async (visit: Visit, text: string, seconds: number) => {
      const answer = await expectRefused(() => world.exchange(own, visit), '429 rate_limited', own);
      expect(answer.body).toMatchObject({ error_description: text });
      expect(answer.headers.get('retry-after')).toBe(String(seconds));
    };
    const pay = async (visit: Visit) => expect((await world.exchange(own, visit)).status).toBe(200);

    world.next(hour);
    world.clock.advance(13_000);
    const visits = [await world.visit(own), await world.visit(own)] as const;
    await pay(visits[0]);
    await expectCapped(visits[1], 'Spend limit exceeded: minute bucket', 47);
    await expectCapped(visits[1], 'Token endpoint rate limit exceeded', 47);
    world.next();
    await pay(visits[1]);
    world.next();
    await expectCapped(await world.visit(own), 'Spend limit exceeded: hour bucket', 3600 - 120);
    world.next(hour);
    const late = await world.visit(own);
    await pay(late);
    expect(await world.balance(own)).toBe(10_000 - 3 * 50);
  });

  row('7.4 500 / server_error', async () => {
    const visit = await world.visit(partner);
    fault.break('ledger', 'fault');
    const answer = await expectRefused(() => world.exchange(partner, visit), '500 server_error');
    // Nothing of what went wrong inside.
    expect(answer.text).not.toContain('bug');
    fault.mend();
    expect((await world.exchange(partner, visit)).status).toBe(200);
  });

  row('7.4 503 / service_unavailable', async () => {
    const visit = await world.visit(partner);
    world.trust(false);
    const untrusted = await world.exchange(partner, visit);
    world.trust(true);
    fault.break('ledger', 'outage');
    const away = await world.exchange(partner, visit);
    fault.mend();
    const rehearsed = await world.exchange(partner, await world.visit(partner, 'unavailable'));
    for (const answer of [untrusted, away, rehearsed]) {
      expect(answer).toMatchObject({ status: 503, body: { error: 'service_unavailable' } });
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    expect((await world.exchange(partner, visit)).status).toBe(200);
  });
});
