import type { UsageView } from '../../../../../contracts/admin/wallets.ts';

type DayOfUse = UsageView['days'][number];

/** The height above the highest bar of a chart, in units of its view box. */
const headroom = 10;
/** The width of a bar, as a share of the space for one day. */
const barShare = 0.7;

/** The bars of a chart, in units of its view box. The label of a bar is shown beside the pointer. */
export function barsOf(
  days: readonly DayOfUse[],
  { width, height, labelOf }: { width: number; height: number; labelOf: (day: DayOfUse) => string },
) {
  // At least 1, so that days without charges do not divide by zero.
  const most = Math.max(1, ...days.map(({ charges }) => charges));
  const widthOfDay = width / Math.max(1, days.length);
  const margin = (widthOfDay * (1 - barShare)) / 2;
  return days.map((day, index) => {
    const barHeight = Math.round((day.charges / most) * (height - headroom));
    return {
      x: Math.round(index * widthOfDay + margin),
      y: height - barHeight,
      width: Math.round(widthOfDay * barShare),
      height: barHeight,
      label: labelOf(day),
    };
  });
}
