import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { OAuthError } from '../../contracts/oauth.ts';
import type { Code, TestPartner } from '../harness/partner.ts';
import { breakable } from './breakable.ts';
import type { Answer } from './conformance.ts';
import { type Harness, hour, minute, startHarness } from './harness.ts';
import { rule } from './rule.ts';

let harness: Harness;
let partner: TestPartner;
const fault = breakable();
beforeAll(async () => {
  harness = await startHarness({ replacements: fault.replacements });
  partner = await harness.partner({ funds: 100_000 });
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

/** Checks the status and the error of a response, and that the call charged nothing. */
async function expectRefused(ask: () => Promise<Answer>, expected: `${number} ${string}`, by = partner) {
  const before = await harness.balance(by);
  const answer = await ask();
  const { error } = OAuthError.parse(answer.body);
  expect(`${answer.status} ${error}`).toBe(expected);
  expect(await harness.balance(by)).toBe(before);
  return answer;
}

describe('POST /api/oauth/token', () => {
  rule(
    '7.4 400 / invalid_request',
    'answers 400 invalid_request to a code_verifier that is too short, without a charge',
    async () => {
      const verified = await harness.verifyUser(partner);
      const leave = () => harness.exchange(partner, verified, { code_verifier: 'short' });
      await expectRefused(leave, '400 invalid_request');
      expect((await harness.exchange(partner, verified)).status).toBe(200);
    },
  );

  rule(
    '7.4 400 / invalid_grant',
    'answers 400 invalid_grant to a used code, an expired code and a wrong code_verifier',
    async () => {
      const [expired, used, mismatched] = [
        await harness.verifyUser(partner),
        await harness.verifyUser(partner),
        await harness.verifyUser(partner),
      ];
      expect((await harness.exchange(partner, used)).status).toBe(200);
      const again = await expectRefused(() => harness.exchange(partner, used), '400 invalid_grant');
      expect(again.body).toMatchObject({
        error_description: expect.stringMatching(/^Authorization code already used at .*; charge txn_/),
      });
      const wrong = { code_verifier: 'w'.repeat(43) };
      await expectRefused(() => harness.exchange(partner, mismatched, wrong), '400 invalid_grant');
      harness.clock.advance(10 * minute);
      await expectRefused(() => harness.exchange(partner, expired), '400 invalid_grant');
    },
  );

  rule(
    '7.4 400 / unsupported_grant_type',
    'answers 400 unsupported_grant_type to another grant_type, even without other parameters',
    async () => {
      const verified = await harness.verifyUser(partner);
      const ask = () => harness.exchange(partner, verified, { grant_type: 'refresh_token' });
      await expectRefused(ask, '400 unsupported_grant_type');
      const nothing = { code: undefined, redirect_uri: undefined, code_verifier: undefined };
      const changes = { ...nothing, client_id: undefined, client_secret: undefined };
      const alone = () =>
        harness.exchange(partner, verified, { ...changes, grant_type: 'client_credentials' });
      await expectRefused(alone, '400 unsupported_grant_type');
      expect((await harness.exchange(partner, verified)).status).toBe(200);
    },
  );

  rule(
    '7.4 400 / invalid_scope',
    'answers 400 invalid_scope if the client has lost a requested claim since the start',
    async () => {
      const own = await harness.partner();
      const verified = await harness.verifyUser(own, 'adult', 'age_18_plus country');
      await harness.admin.clients.update.mutate({ clientId: own.clientId, claims: ['age_18_plus'] });
      await expectRefused(() => harness.exchange(own, verified), '400 invalid_scope', own);
    },
  );

  rule(
    '7.4 400 / invalid_redirect_uri',
    'answers 400 invalid_redirect_uri if the redirect_uri has an extra question mark',
    async () => {
      const verified = await harness.verifyUser(partner);
      const ask = () =>
        harness.exchange(partner, verified, { redirect_uri: 'http://localhost:9999/callback?' });
      await expectRefused(ask, '400 invalid_redirect_uri');
    },
  );

  rule(
    '7.4 401 / invalid_client',
    'answers 401 invalid_client to an unknown client_id and to a wrong client_secret',
    async () => {
      const verified = await harness.verifyUser(partner);
      for (const changes of [{ client_id: 'cli_unknown' }, { client_secret: 'wrong' }])
        await expectRefused(() => harness.exchange(partner, verified, changes), '401 invalid_client');
    },
  );

  rule(
    '7.4 402 / payment_required',
    'answers 402 payment_required if the wallet is empty; after a funding, the code can be exchanged',
    async () => {
      const poor = await harness.partner({ funds: 0 });
      const verified = await harness.verifyUser(poor);
      await expectRefused(() => harness.exchange(poor, verified), '402 payment_required', poor);
      const { partnerId } = poor;
      await harness.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5000, reference: 'now' });
      expect((await harness.exchange(poor, verified)).status).toBe(200);
      const rehearsed = await harness.verifyUser(partner, 'low-balance');
      await expectRefused(() => harness.exchange(partner, rehearsed), '402 payment_required');
    },
  );

  rule(
    '7.4 403 / access_denied',
    'answers 403 access_denied for the sandbox user duplicate, whose enrollment is blocked',
    async () => {
      const verified = await harness.verifyUser(partner, 'duplicate');
      await expectRefused(() => harness.exchange(partner, verified), '403 access_denied');
    },
  );

  rule(
    '7.4 403 / client_inactive',
    'answers 403 client_inactive for a suspended partner, and for the sandbox user client-inactive',
    async () => {
      const own = await harness.partner();
      const verified = await harness.verifyUser(own);
      await harness.admin.partners.suspend.mutate({ partnerId: own.partnerId });
      await expectRefused(() => harness.exchange(own, verified), '403 client_inactive', own);
      const rehearsed = await harness.verifyUser(partner, 'client-inactive');
      await expectRefused(() => harness.exchange(partner, rehearsed), '403 client_inactive');
    },
  );

  rule(
    '7.4 429 / rate_limited',
    'answers 429 with Retry-After at the minute cap, at the hour cap and at the request limit',
    async () => {
      const own = await harness.partner({ client: { tokenRequestsPerMinute: 2 } });
      const limits = { partnerId: own.partnerId, mode: 'test' as const };
      await harness.admin.limits.set.mutate({ ...limits, perMinute: 1, perHour: 2 });
      const expectCapped = async (verified: Code, text: string, seconds: number) => {
        const answer = await expectRefused(() => harness.exchange(own, verified), '429 rate_limited', own);
        expect(answer.body).toMatchObject({ error_description: text });
        expect(answer.headers.get('retry-after')).toBe(String(seconds));
      };
      const pay = async (verified: Code) => expect((await harness.exchange(own, verified)).status).toBe(200);

      harness.next(hour);
      harness.clock.advance(13_000);
      const verifications = [await harness.verifyUser(own), await harness.verifyUser(own)] as const;
      await pay(verifications[0]);
      await expectCapped(verifications[1], 'Spend limit exceeded: minute bucket', 47);
      await expectCapped(verifications[1], 'Token endpoint rate limit exceeded', 47);
      harness.next();
      await pay(verifications[1]);
      harness.next();
      await expectCapped(await harness.verifyUser(own), 'Spend limit exceeded: hour bucket', 3600 - 120);
      harness.next(hour);
      const late = await harness.verifyUser(own);
      await pay(late);
      expect(await harness.balance(own)).toBe(10_000 - 3 * 50);
    },
  );

  rule(
    '7.4 500 / server_error',
    'answers 500 server_error after a defect, without its text; later the code can be exchanged',
    async () => {
      const verified = await harness.verifyUser(partner);
      fault.break('ledger', 'fault');
      const answer = await expectRefused(() => harness.exchange(partner, verified), '500 server_error');
      // The answer contains nothing of the internal error.
      expect(answer.text).not.toContain('bug');
      fault.mend();
      expect((await harness.exchange(partner, verified)).status).toBe(200);
    },
  );

  rule(
    '7.4 503 / service_unavailable',
    'answers 503 with Retry-After while the clock is not trusted or the database is away',
    async () => {
      const verified = await harness.verifyUser(partner);
      harness.trust(false);
      const untrusted = await harness.exchange(partner, verified);
      harness.trust(true);
      fault.break('ledger', 'outage');
      const away = await harness.exchange(partner, verified);
      fault.mend();
      const rehearsed = await harness.exchange(partner, await harness.verifyUser(partner, 'unavailable'));
      for (const answer of [untrusted, away, rehearsed]) {
        expect(answer).toMatchObject({ status: 503, body: { error: 'service_unavailable' } });
        expect(answer.headers.get('retry-after')).toBe('5');
      }
      expect((await harness.exchange(partner, verified)).status).toBe(200);
    },
  );
});
