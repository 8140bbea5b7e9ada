import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Claims, claimNames } from '../../contracts/claims.ts';
import { generalText, isErrorCode } from '../../contracts/errors.ts';
import { OAuthError, TokenResponse, UserinfoResponse } from '../../contracts/oauth.ts';
import type { VerificationLevel } from '../../contracts/storefront.ts';
import { type FailureReason, GeneralError } from '../../contracts/verification.ts';
import type { PersonName } from '../../server/sessions/sources/sandbox.ts';
import { fields, type Shop } from '../api/storefront/shop.ts';
import { adult } from '../harness/claims.ts';
import type { TestPartner } from '../harness/partner.ts';
import { type Harness, hour, startHarness } from './harness.ts';

type Refusal = `${number} ${string}`;

/** The documented result of each sandbox user: at the token endpoint and userinfo, and at the storefront. */
type End =
  | { claims: Claims; storefront: VerificationLevel | 422 }
  | { reason: FailureReason }
  | { token: Refusal; storefront: Refusal; retryAfter?: string };

const like = (changed: Claims, storefront: VerificationLevel | 422 = 'document'): End => ({
  claims: { ...adult, ...changed },
  storefront,
});
/** Returns a refusal. `storefront` is a status with a text, or with a code of the error table. */
function refused(token: Refusal, storefront: Refusal, retryAfter?: string): End {
  const [status = '', code = ''] = storefront.split(' ');
  const words = isErrorCode(code) ? (`${Number(status)} ${generalText(code)}` as const) : storefront;
  return { token, storefront: words, ...(retryAfter ? { retryAfter } : {}) };
}
const noAge = { age_16_plus: false, age_18_plus: false, age_21_plus: false };
const ageOnly = { identity_verified: false, country: null, assurance_level: 1 };
const nothing = Object.fromEntries(claimNames.map((name) => [name, null]));

/** The type requires a result for every sandbox user. Waits are for a clock that is 13 s into an hour. */
const ends: Record<PersonName, End> = {
  adult: like({}),
  'new-adult': like({}),
  'young-adult': like({ age_21_plus: false }),
  teen: like({ age_18_plus: false, age_21_plus: false }),
  child: like(noAge),
  abroad: like({ country: 'US' }),
  'unknown-country': like({ country: null }),
  'age-only': like(ageOnly, 'basic'),
  biometric: like({ assurance_level: 3 }, 'biometric'),
  unknown: like(nothing, 422),
  rejected: { reason: 'document_rejected' },
  'source-down': { reason: 'source_error' },
  duplicate: refused('403 access_denied', '422 enrollment_blocked'),
  'client-inactive': refused('403 client_inactive', '401 integration_inactive'),
  'low-balance': refused('402 payment_required', '402 payment_required'),
  'minute-cap': refused('429 rate_limited', '429 Spend limit exceeded: minute bucket', '47'),
  'hour-cap': refused('429 rate_limited', '429 Spend limit exceeded: hour bucket', '3587'),
  unavailable: refused('503 service_unavailable', '503 service_unavailable', '5'),
};
const people = Object.entries(ends) as [PersonName, End][];
const scope = claimNames.join(' ');

let harness: Harness;
let partner: TestPartner;
let shop: Shop;
beforeAll(async () => {
  harness = await startHarness();
  partner = await harness.partner({ funds: 100_000, client: { claims: claimNames } });
  shop = await harness.shop({ client: { claims: claimNames } });
});
afterAll(() => harness.stop());
beforeEach(() => {
  harness.next(hour);
  harness.clock.advance(13_000);
});

/** What the user gets at the token endpoint, in words. */
function atTokenEndpoint(end: End): string {
  if ('claims' in end) return `gets a token, and userinfo returns ${changedClaims(end.claims)}`;
  if ('token' in end) return `gets ${end.token} at the token endpoint, without a charge`;
  return `gets no code: the event of the failed session has the failure_reason ${end.reason}`;
}

/** What the user gets at the storefront, in words. */
function atStorefront(end: End): string {
  if ('reason' in end) return 'gets no storefront code: the redirect has the error verification_failed';
  const { storefront } = end;
  if (storefront === 422) return 'gets 422 at the storefront exchange, because no claim is positive';
  if ('token' in end) {
    const [, status = '', firstWords = ''] = /^(\d+) ([^.;]+)/.exec(end.storefront) ?? [];
    return `gets ${status} "${firstWords}" at the storefront exchange`;
  }
  return `gets the same claims and the verification_level ${storefront} at the storefront exchange`;
}

/** The claims that differ from those of an adult, in words. */
function changedClaims(claims: Claims): string {
  const changed = Object.entries(claims).filter(([name, value]) => adult[name as keyof Claims] !== value);
  if (changed.length === claimNames.length) return 'null for every claim';
  const list = changed.map(([name, value]) => `${name}: ${value}`).join(', ');
  return list === '' ? 'all claims of an adult' : `the claims of an adult, except ${list}`;
}

describe.for(people)('the sandbox user %s', ([person, end]) => {
  it(atTokenEndpoint(end), async () => {
    const own = 'reason' in end ? await harness.partner() : partner;
    const before = await harness.balance(own);
    const verified = await harness.walkPages(own, person, 'reason' in end ? 'age_18_plus' : scope);
    if ('reason' in end) {
      expect(verified.end.searchParams.get('error')).toBe('verification_failed');
      const failed = 'verification.session.failed';
      const told = async () => {
        const [event] = await harness.admin.events.list.query({ partnerId: own.partnerId, event: failed });
        return event && JSON.parse((await harness.admin.events.show.query({ eventId: event.id })).body);
      };
      await expect.poll(told).toMatchObject({ failure_reason: end.reason });
      return;
    }
    const answer = await harness.exchange(own, verified);
    if ('claims' in end) {
      const userinfo = await harness.userinfo(`Bearer ${TokenResponse.parse(answer.body).access_token}`);
      expect(UserinfoResponse.parse(userinfo.body).claims).toEqual(end.claims);
      return;
    }
    expect(`${answer.status} ${OAuthError.parse(answer.body).error}`).toBe(end.token);
    expect(answer.headers.get('retry-after')).toBe(end.retryAfter ?? null);
    expect(await harness.balance(own)).toBe(before);
  });

  it(atStorefront(end), async () => {
    if ('reason' in end) {
      const { end: redirect } = await harness.walkPages(shop, person, scope);
      expect(redirect.searchParams.get('error')).toBe('verification_failed');
      return;
    }
    const { code } = await harness.verifyUser(shop, person, scope);
    const answer = await harness.storefront(shop, fields(code));
    if ('claims' in end) {
      const { claims, storefront } = end;
      if (storefront === 422) expect(answer).toMatchObject({ status: 422 });
      else expect(answer.body).toMatchObject({ claims, verification_level: storefront });
      return;
    }
    const { error } = GeneralError.parse(answer.body);
    expect(`${answer.status} ${error}`).toBe(end.storefront);
    expect(answer.headers.get('retry-after')).toBe(end.retryAfter ?? null);
  });
});

it('a sandbox user whose exchange is refused at the token endpoint gets the same status at checkbox', async () => {
  for (const [person, end] of people) {
    if (!('token' in end)) continue;
    const own = await harness.partner();
    await harness.verifyUser(own, person);
    const question = { enrollment_id: await harness.enrollment(own), claims: ['country'] };
    const answer = await harness.checkbox(own, question, person);
    expect(answer.status, person).toBe(Number(end.token.slice(0, 3)));
  }
});
