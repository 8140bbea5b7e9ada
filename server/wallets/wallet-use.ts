/** What a wallet spends, from pages of its ledger that lie ever further apart: no ledger is read as a whole. */

const day = 86_400_000;
/** Milliseconds whose use is asked for. */
export const usePeriod = 7 * day;

/** A page of a ledger as far as spending goes: cents after it. */
export interface Sample {
  n: number;
  at: Date;
  balance: number;
}

/** Money that an operator moved, in cents, with the page that holds it. */
export interface ManualMove {
  n: number;
  amount: number;
}

/** Numbers of pages before page `n`, one, two, four, eight … back, and the first. */
export function sampledPages(n: number): number[] {
  const before: number[] = [];
  for (let back = 1; back < n; back *= 2) before.push(n - back);
  return n > 0 ? [...before, 0] : [];
}

/** How far a page is from the beginning of the period, as a ratio: half and double are equally far. */
const distance = ({ at }: Sample, now: number): number =>
  Math.abs(Math.log(Math.max(1, now - at.getTime()) / usePeriod));

/** The sample whose time is nearest to the beginning of the period. */
export function baselineOf(samples: readonly Sample[], now: number): Sample | undefined {
  return samples.toSorted((one, other) => distance(one, now) - distance(other, now))[0];
}

/**
 * Cents a day that were charged since `base`, an exact sum over that time. A wallet younger than a day counts as a day old.
 * @param moves those of the wallet, at least all since `base`
 */
export function spentPerDay(
  last: Sample,
  base: Sample,
  { moves, now }: { moves: readonly ManualMove[]; now: number },
): number {
  const moved = moves.filter(({ n }) => n > base.n).reduce((sum, { amount }) => sum + amount, 0);
  const days = Math.max(1, (now - base.at.getTime()) / day);
  return Math.max(0, Math.round((base.balance - last.balance + moved) / days));
}
