import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timeLeft } from '../../../server/pages/views/time-left.ts';

const minute = 60_000;

it.each([
  ['30 minutes', 'before', 'says 30 minutes without a warning, and reloads after 1501 s', 30],
  ['27.5 minutes', 'before', 'says 28 minutes without a warning, and reloads after 1351 s', 27.5],
  ['5.1 minutes', 'before', 'says 6 minutes without a warning, and reloads after 7 s', 5.1],
  ['5 minutes', 'before', 'says 5 minutes with a warning, and reloads after 181 s', 5],
  ['1.5 minutes', 'before', 'says 2 minutes with a warning, and reloads after 91 s', 1.5],
  ['0 minutes', 'before', 'says 0 minutes with a warning, and reloads after 1 s', 0],
  ['3 minutes', 'after', 'says 0 minutes with a warning, and reloads after 1 s', -3],
])('a page that is opened %s %s the end of its session %s', (_, _side, expected, left) => {
  const { minutes, ending, refreshAfter } = timeLeft(left * minute, 0);
  const warning = ending ? 'with' : 'without';
  expect(`says ${minutes} minutes ${warning} a warning, and reloads after ${refreshAfter} s`).toBe(expected);
});

it('a page reloads five minutes before the end of its session; then the time left that it shows is at most three minutes too long', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 * minute }), (left) => {
      const { minutes, ending, refreshAfter } = timeLeft(left, 0);
      const then = Math.max(0, left - refreshAfter * 1000);
      if (ending) expect(minutes * minute - then).toBeLessThanOrEqual(3 * minute + 2000);
      else expect(Math.abs(then - 5 * minute)).toBeLessThanOrEqual(2000);
    }),
  );
});
