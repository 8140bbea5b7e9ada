import { describe, expect, it } from 'vitest';
import { barsOf, usageByDay } from '../../server/portal/usage.ts';

const now = Date.parse('2026-07-03T00:30:00Z');
const entry = (at: string, amount: number, kind = 'token') => ({ at, amount, kind });

describe('the usage chart', () => {
  it('counts the charges of each day in UTC, including days without charges, and no other entries', () => {
    const entries = [
      entry('2026-06-30T23:59:59.999Z', -50),
      entry('2026-07-01T00:00:00.000Z', -50),
      entry('2026-07-01T23:59:59.999Z', -25),
      entry('2026-07-03T00:00:00.000Z', 10_000, 'funding'),
      entry('2026-07-03T00:00:00.000Z', -5_000, 'adjustment'),
    ];
    expect(usageByDay(entries, { days: 3, now })).toEqual([
      { day: '2026-07-01', charges: 2, cents: 75 },
      { day: '2026-07-02', charges: 0, cents: 0 },
      { day: '2026-07-03', charges: 0, cents: 0 },
    ]);
  });

  it('draws bars within its width and height, and the bar of the most charges is the highest', () => {
    const days = [0, 5, 10].map((charges) => ({ day: '2026-07-01', charges, cents: 0 }));
    const bars = barsOf(days, { width: 300, height: 100, labelOf: ({ charges }) => `${charges}` });
    expect(bars.map(({ height }) => height)).toEqual([0, 45, 90]);
    for (const { x, y, width, height } of bars) {
      expect(y + height).toBe(100);
      expect(x + width).toBeLessThanOrEqual(300);
    }
  });
});
