/** The charges of a wallet on one day in UTC. */
export interface DayOfUse {
  /** `2026-07-01`. */
  day: string;
  charges: number;
  /** Cents. */
  cents: number;
}

const dayMs = 86_400_000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
/** Returns the start of the day in UTC, some days before `now`. */
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
  const use = new Map<string, DayOfUse>();
  for (let n = days - 1; n >= 0; n -= 1) {
    const day = dayOf(now - n * dayMs);
    use.set(day, { day, charges: 0, cents: 0 });
  }
  for (const { at, amount } of entries.filter(isCharge)) {
    const found = use.get(at.slice(0, 10));
    if (!found) continue;
    found.charges += 1;
    found.cents -= amount;
  }
  return [...use.values()];
}

/** The bars of a chart, in units of its view box. */
export function barsOf(
  days: readonly DayOfUse[],
  { width, height, labelOf }: { width: number; height: number; labelOf: (day: DayOfUse) => string },
) {
  const most = Math.max(1, ...days.map(({ charges }) => charges));
  const step = width / Math.max(1, days.length);
  return days.map((day, n) => {
    const barHeight = Math.round((day.charges / most) * (height - 10));
    return {
      x: Math.round(n * step + step * 0.15),
      y: height - barHeight,
      width: Math.round(step * 0.7),
      height: barHeight,
      label: labelOf(day),
    };
  });
}
