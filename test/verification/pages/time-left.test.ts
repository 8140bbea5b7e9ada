import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timeLeft } from '../../../server/verification/pages/time-left.ts';

const minute = 60_000;

it.each([
  [30, { minutes: 30, ending: false, refreshAfter: 1501 }],
  [27.5, { minutes: 28, ending: false, refreshAfter: 1351 }],
  [5.1, { minutes: 6, ending: false, refreshAfter: 7 }],
  [5, { minutes: 5, ending: true, refreshAfter: 181 }],
  [1.5, { minutes: 2, ending: true, refreshAfter: 91 }],
  [0, { minutes: 0, ending: true, refreshAfter: 1 }],
  [-3, { minutes: 0, ending: true, refreshAfter: 1 }],
])(
  'timeLeft yields the shown minutes, the warning and the seconds until the next reload, %f minutes before the end',
  (left, expected) => {
    expect(timeLeft(left * minute, 0)).toEqual(expected);
  },
);

it('timeLeft makes a page reload five minutes before the end; afterwards the shown minutes are three too many at most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 * minute }), (left) => {
      const { minutes, ending, refreshAfter } = timeLeft(left, 0);
      const then = Math.max(0, left - refreshAfter * 1000);
      if (ending) expect(minutes * minute - then).toBeLessThanOrEqual(3 * minute + 2000);
      else expect(Math.abs(then - 5 * minute)).toBeLessThanOrEqual(2000);
    }),
  );
});
