import { describe, expect, it } from 'vitest';
import { barsOf } from '../../../server/console/portal/views/wallet/usage.ts';

describe('the usage chart', () => {
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
