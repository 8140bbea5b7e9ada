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
    // OpenID Connect Core 5.1: the year is withheld.
    ['0000-03-01', 18, null],
    ['2008-13-01', 18, null],
    ['2007-02-29', 18, null],
    ['01.03.2008', 18, null],
    ['', 18, null],
    [undefined, 18, null],
    [20080301, 18, null],
  ])('from the birth date %s is at least %i years: %s', (birthdate, years, expected) => {
    expect(isOfAge(birthdate, years, now)).toBe(expected);
  });

  it('stays reached at every later time, and includes lower ages', () => {
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
      'standard claims by the usual rules',
      usualClaims,
      { birthdate: '2009-01-01', address: { country: 'de' } },
      { age_16_plus: true, age_18_plus: false, age_21_plus: false, country: 'DE' },
    ],
    [
      'verified claims',
      { age_18_plus: { birthdate: 'birthdate', verified: 'any' } },
      verified,
      { age_18_plus: true },
    ],
    [
      'verified claims of a trust framework',
      { country: { claim: 'address.country', verified: ['eidas'] } },
      verified,
      { country: 'FR' },
    ],
    [
      'not those of another one',
      { country: { claim: 'address.country', verified: ['de_aml'] } },
      verified,
      {},
    ],
    [
      'several sets of verified claims',
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
      'an unverified one where a verified one is wanted',
      { age_18_plus: { birthdate: 'birthdate', verified: 'any' } },
      { birthdate: '1990-01-01' },
      {},
    ],
    ['identity from the presence of verified claims', usualClaims, verified, { identity_verified: true }],
    [
      'a level from acr',
      { assurance_level: { acr: { high: 3, low: 1 } } },
      { acr: 'high' },
      { assurance_level: 3 },
    ],
    ['no level from another acr', { assurance_level: { acr: { high: 3 } } }, { acr: 'constructor' }, {}],
    ['a direct claim', { age_18_plus: { claim: 'over18' } }, { over18: true }, { age_18_plus: true }],
    ['text that means yes', { age_18_plus: { claim: 'over18' } }, { over18: 'true' }, { age_18_plus: true }],
    [
      'a claim with dots in its name',
      { age_18_plus: { claim: 'https://idp.example/over18' } },
      { 'https://idp.example/over18': false },
      { age_18_plus: false },
    ],
    [
      'a value of another type is null',
      { country: { claim: 'country' }, age_18_plus: { claim: 'over18' } },
      { country: 'Germany', over18: 'yes' },
      {},
    ],
    ['a level out of range is null', { assurance_level: { claim: 'loa' } }, { loa: 4 }, {}],
    ['inherited names are no claims', { age_18_plus: { claim: 'constructor.name' } }, {}, {}],
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
