import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOfAge } from '../../../contracts/age.ts';
import { claimNames } from '../../../contracts/claims.ts';
import { ClaimRules, usualClaims } from '../../../contracts/oidc-sources.ts';
import { deriveClaims } from '../../../server/verification/sources/oidc-claims.ts';

const now = new Date('2026-03-01T00:00:00Z');
const nothing = Object.fromEntries(claimNames.map((name) => [name, null]));

describe('an age', () => {
  it.each([
    ['2008-03-01', 18, true],
    ['2008-03-02', 18, false],
    ['1990-12-31', 18, true],
    // A user born on a leap day is a year older on 1 March.
    ['2008-02-29', 18, true],
    ['2007', 18, true],
    ['2009', 18, false],
    // The birthday may come later in the year.
    ['2008', 18, null],
    // OpenID Connect Core 5.1: the year 0000 means that the provider does not state it.
    ['0000-03-01', 18, null],
    ['2008-13-01', 18, null],
    ['2007-02-29', 18, null],
    ['01.03.2008', 18, null],
    ['', 18, null],
    [undefined, 18, null],
    [20080301, 18, null],
  ])('derived from the birth date %s is at least %i years: %s', (birthdate, years, expected) => {
    expect(isOfAge(birthdate, years, now)).toBe(expected);
  });

  it('stays reached at later times, and the age of 21 includes the age of 16', () => {
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

describe('the claims that are derived from an answer of a provider', () => {
  const verified = {
    verified_claims: {
      verification: { trust_framework: 'eidas' },
      claims: { birthdate: '2001-05-04', address: { country: 'fr' } },
    },
  };

  it.each([
    [
      'come from standard claims by the usual rules',
      usualClaims,
      { birthdate: '2009-01-01', address: { country: 'de' } },
      { age_16_plus: true, age_18_plus: false, age_21_plus: false, country: 'DE' },
    ],
    [
      'come from verified claims',
      { age_18_plus: { birthdate: 'birthdate', verified: 'any' } },
      verified,
      { age_18_plus: true },
    ],
    [
      'come from verified claims of a named trust framework',
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
      'contain a level that is derived from acr',
      { assurance_level: { acr: { high: 3, low: 1 } } },
      { acr: 'high' },
      { assurance_level: 3 },
    ],
    [
      'contain no level for an acr without a rule',
      { assurance_level: { acr: { high: 3 } } },
      { acr: 'constructor' },
      {},
    ],
    [
      'come from a claim of the configured name',
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
      'are null for a value of another type',
      { country: { claim: 'country' }, age_18_plus: { claim: 'over18' } },
      { country: 'Germany', over18: 'yes' },
      {},
    ],
    ['are null for a level out of range', { assurance_level: { claim: 'loa' } }, { loa: 4 }, {}],
    ['are null for an inherited property name', { age_18_plus: { claim: 'constructor.name' } }, {}, {}],
  ] as [string, ClaimRules, Record<string, unknown>, object][])('%s', (_name, rules, said, expected) => {
    expect(deriveClaims(ClaimRules.parse(rules), said, now)).toEqual({ ...nothing, ...expected });
  });

  it('contain only values of the claim registry, for any answer of the provider', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (said, anything) => {
        const given = { ...said, birthdate: anything, verified_claims: anything, address: anything };
        const claims = deriveClaims(usualClaims, given, now);
        expect(Object.keys(claims)).toEqual(claimNames);
      }),
    );
  });
});
