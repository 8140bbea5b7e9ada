/** The charges of a wallet on one day in UTC. */
export interface DayOfUse {
  /** `2026-07-01`. */
  day: string;
  charges: number;
  /** Cents. */
  cents: number;
}

/** The height above the highest bar of a chart, in units of its view box. */
const headroom = 10;
/** The width of a bar, as a share of the space for one day. */
const barShare = 0.7;

const dayMs = 86_400_000;
/** The day in UTC, such as `2026-07-01`. */
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Returns the start of the day of `now` in UTC, or of a day before it. */
export const startOfDay = (now: number, daysBefore = 0): string =>
  `${dayOf(now - daysBefore * dayMs)}T00:00:00.000Z`;

/** Whether a ledger entry is a charge. A negative adjustment also lowers the balance, but is none. */
export const isCharge = ({ kind, amount }: { kind: string; amount: number }): boolean =>
  amount < 0 && kind !== 'adjustment';

/** Charges by day, the oldest day first, including days without charges. @param now milliseconds since 1970 */
export function usageByDay(
  entries: readonly { at: string; kind: string; amount: number }[],
  { days, now }: { days: number; now: number },
): DayOfUse[] {
  const useByDay = new Map<string, DayOfUse>();
  for (let daysBefore = days - 1; daysBefore >= 0; daysBefore -= 1) {
    const day = dayOf(now - daysBefore * dayMs);
    useByDay.set(day, { day, charges: 0, cents: 0 });
  }
  for (const { at, amount } of entries.filter(isCharge)) {
    const use = useByDay.get(at.slice(0, 10));
    // The entry may be older than the first day.
    if (!use) continue;
    use.charges += 1;
    // The amount of a charge is negative.
    use.cents -= amount;
  }
  return [...useByDay.values()];
}

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
