import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOfAge } from '../../../contracts/age.ts';
import { claimNames } from '../../../contracts/claims.ts';
import { ClaimRules, usualClaims } from '../../../contracts/oidc-sources.ts';
import { deriveClaims } from '../../../server/sessions/sources/oidc-claims.ts';

const now = new Date('2026-03-01T00:00:00Z');
const nothing = Object.fromEntries(claimNames.map((name) => [name, null]));

describe('isOfAge for 18 years on 1 March 2026', () => {
  it.each<[expected: boolean | null, birthdate: unknown, reason: string]>([
    [true, '2008-03-01', 'whose 18th birthday is this day'],
    [false, '2008-03-02', 'whose 18th birthday is the next day'],
    [true, '1990-12-31', 'whose 18th birthday was long ago'],
    [true, '2008-02-29', 'a leap day, whose birthdays in other years are on 1 March'],
    [true, '2007', 'a year without a day, whose 18th birthday was last year'],
    [false, '2009', 'a year without a day, whose 18th birthday is next year'],
    [null, '2008', 'a year without a day, whose 18th birthday is in this year'],
    [null, '0000-03-01', 'which does not state the year (OpenID Connect Core 5.1)'],
    [null, '2008-13-01', 'which has no such month'],
    [null, '2007-02-29', 'which has no such day'],
    [null, '01.03.2008', 'which has another format'],
    [null, '', 'which is empty'],
    [null, undefined, 'which means none'],
    [null, 20080301, 'which is a number'],
  ])('is %s for the birth date %j, %s', (expected, birthdate) => {
    expect(isOfAge(birthdate, 18, now)).toBe(expected);
  });
});

describe('isOfAge', () => {
  it('stays true at later times, and is true for 16 years if it is true for 21 years', () => {
    const dates = fc.date({ min: new Date('1900-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, dates, fc.nat(3_650), (born, at, days) => {
        const birthdate = born.toISOString().slice(0, 10);
        const later = new Date(at.getTime() + days * 86_400_000);
        if (isOfAge(birthdate, 18, at)) expect(isOfAge(birthdate, 18, later)).toBe(true);
        if (isOfAge(birthdate, 21, at)) expect(isOfAge(birthdate, 16, at)).toBe(true);
      }),
    );
  });
});

describe("claims that are derived from an OpenID provider's response", () => {
  const verified = {
    verified_claims: {
      verification: { trust_framework: 'eidas' },
      claims: { birthdate: '2001-05-04', address: { country: 'fr' } },
    },
  };

  it.each([
    [
      'come from the standard claims if the default rules apply',
      usualClaims,
      { birthdate: '2009-01-01', address: { country: 'de' } },
      { age_16_plus: true, age_18_plus: false, age_21_plus: false, country: 'DE' },
    ],
    [
      'come from verified claims if the rule asks for verified ones',
      { age_18_plus: { birthdate: 'birthdate', verified: 'any' } },
      verified,
      { age_18_plus: true },
    ],
    [
      'come from verified claims of the trust framework that the rule names',
      { country: { claim: 'address.country', verified: ['eidas'] } },
      verified,
      { country: 'FR' },
    ],
    [
      'do not come from verified claims of another trust framework',
      { country: { claim: 'address.country', verified: ['de_aml'] } },
      verified,
      {},
    ],
    [
      'come from one of several sets of verified claims',
      { country: { claim: 'address.country', verified: ['eidas'] } },
      {
        verified_claims: [
          { verification: { trust_framework: 'x' }, claims: { address: { country: 'XX' } } },
          verified.verified_claims,
        ],
      },
      { country: 'FR' },
    ],
    [
      'do not come from an unverified claim if a verified one is required',
      { age_18_plus: { birthdate: 'birthdate', verified: 'any' } },
      { birthdate: '1990-01-01' },
      {},
    ],
    [
      'contain identity_verified if verified claims are present',
      usualClaims,
      verified,
      { identity_verified: true },
    ],
    [
      'contain the assurance level to which the rule maps the acr',
      { assurance_level: { acr: { high: 3, low: 1 } } },
      { acr: 'high' },
      { assurance_level: 3 },
    ],
    [
      'contain no assurance level if no rule maps the acr',
      { assurance_level: { acr: { high: 3 } } },
      { acr: 'constructor' },
      {},
    ],
    [
      'come from the claim whose name the rule configures',
      { age_18_plus: { claim: 'over18' } },
      { over18: true },
      { age_18_plus: true },
    ],
    [
      'are true for the text "true"',
      { age_18_plus: { claim: 'over18' } },
      { over18: 'true' },
      { age_18_plus: true },
    ],
    [
      'come from a claim with dots in its name',
      { age_18_plus: { claim: 'https://idp.example/over18' } },
      { 'https://idp.example/over18': false },
      { age_18_plus: false },
    ],
    [
      'are null if a value has an unexpected type or form',
      { country: { claim: 'country' }, age_18_plus: { claim: 'over18' } },
      { country: 'Germany', over18: 'yes' },
      {},
    ],
    ['are null for an assurance level above 3', { assurance_level: { claim: 'loa' } }, { loa: 4 }, {}],
    [
      'are null if the rule names an inherited property',
      { age_18_plus: { claim: 'constructor.name' } },
      {},
      {},
    ],
  ] as [string, ClaimRules, Record<string, unknown>, object][])('%s', (_name, rules, said, expected) => {
    expect(deriveClaims(ClaimRules.parse(rules), said, now)).toEqual({ ...nothing, ...expected });
  });

  it('have exactly the names of the claim registry, whatever the provider sends', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (said, anything) => {
        const given = { ...said, birthdate: anything, verified_claims: anything, address: anything };
        const claims = deriveClaims(usualClaims, given, now);
        expect(Object.keys(claims)).toEqual(claimNames);
      }),
    );
  });
});
