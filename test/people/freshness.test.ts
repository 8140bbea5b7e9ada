import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimNames } from '../../contracts/claims.ts';
import { createFreshness } from '../../server/people/enrollments/freshness.ts';

const day = 86_400_000;
const at = (days: number) => days * day;
const evaluatedAt = new Date(0);

describe('a stored claim', () => {
  it.each([
    ['fresh', 364, 'country', 'DE'],
    ['no longer fresh', 365, 'country', 'DE'],
    ['fresh', 364, 'country', null],
    ['fresh', 364, 'age_18_plus', true],
    ['no longer fresh', 365, 'age_18_plus', true],
    // A user who is too young today may be old enough tomorrow, so this answer is fresh for only a day.
    ['fresh', 0.9, 'age_18_plus', false],
    ['no longer fresh', 1, 'age_18_plus', false],
    ['fresh', 364, 'age_18_plus', null],
    ['fresh', 364, 'identity_verified', false],
  ] as const)('is %s %f days after its evaluation if it is %s=%s', (state, days, name, value) => {
    expect(createFreshness()(name, { value, evaluatedAt }, at(days))).toBe(state === 'fresh');
  });

  it('is not fresh if it was never evaluated', () => {
    expect(createFreshness()('country', undefined, 0)).toBe(false);
  });

  it('is fresh for the time configured for its name, or else for the default time', () => {
    const isFresh = createFreshness({ default: at(30), country: at(400) });
    const holds = (name: 'country' | 'identity_verified', days: number) =>
      isFresh(name, { value: true, evaluatedAt }, at(days));
    expect([holds('country', 399), holds('country', 400)]).toEqual([true, false]);
    expect([holds('identity_verified', 29), holds('identity_verified', 30)]).toEqual([true, false]);
  });

  it('is fresh for the maximum age that the client sets, if that is shorter', () => {
    const isFresh = createFreshness({ country: at(400) });
    const holds = (days: number, maxAge: number) =>
      isFresh('country', { value: 'DE', evaluatedAt }, at(days), maxAge);
    expect([holds(89, at(90)), holds(90, at(90)), holds(400, at(500))]).toEqual([true, false, false]);
  });

  it('is not fresh at any later time once it is not fresh', () => {
    const names = fc.constantFrom(...claimNames);
    const moments = fc.integer({ min: 0, max: at(1000) });
    fc.assert(
      fc.property(names, fc.boolean(), moments, moments, (name, value, now, more) => {
        const isFresh = createFreshness({ country: at(10) });
        const claim = { value, evaluatedAt };
        if (!isFresh(name, claim, now)) expect(isFresh(name, claim, now + more)).toBe(false);
      }),
    );
  });
});
