import { expect, it } from 'vitest';
import { cappedBy } from '../../../server/billing/wallets/limits/ceilings.ts';

const ceilings = { perMinute: 100, perHour: 1_000 };
const low = { perMinute: 50, perHour: 500 };
const high = { perMinute: 101, perHour: 1_001 };

it('a member sets a cap up to its ceiling; one more is refused, with the ceiling and its unit', () => {
  const set = (wanted: Partial<typeof low>) => cappedBy(ceilings, { wanted, present: low, isMember: true });
  expect(set(ceilings)).toEqual(ceilings);
  expect(set({ perHour: 0 })).toEqual({ perHour: 0 });
  expect(() => set({ perMinute: 101 })).toThrow('at most 100 a minute');
  expect(() => set({ perHour: 1_001 })).toThrow('at most 1000 an hour');
});

it('an operator may set a cap above its ceiling, and a cap without a ceiling has no limit for anybody', () => {
  expect(cappedBy(ceilings, { wanted: high, present: low, isMember: false })).toEqual(high);
  expect(cappedBy({}, { wanted: high, present: low, isMember: true })).toEqual(high);
});

it('a cap that is left out comes down to its ceiling if it is above, and else stays', () => {
  const isMember = false;
  expect(cappedBy(ceilings, { wanted: {}, present: high, isMember })).toEqual(ceilings);
  expect(cappedBy(ceilings, { wanted: {}, present: ceilings, isMember })).toEqual({});
  expect(cappedBy(ceilings, { wanted: { perHour: 7 }, present: high, isMember })).toEqual({
    perMinute: 100,
    perHour: 7,
  });
});
