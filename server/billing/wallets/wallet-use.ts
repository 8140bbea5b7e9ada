/** Computes the spending of a wallet from a few pages of its ledger. The whole ledger is never read. */

const day = 86_400_000;
/** The period whose spending is computed, in milliseconds. */
export const usePeriod = 7 * day;

/** The part of a ledger page that the spending is computed from. `balance` is in cents, after the page. */
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

/**
 * Returns the numbers of the pages that are 1, 2, 4, 8 … pages before page `n`, and of page 0. These are few pages, and the age of
 * one of them is near to the period, however fast the wallet grows.
 */
export function sampledPages(n: number): number[] {
  const numbers: number[] = [];
  for (let distance = 1; distance < n; distance *= 2) numbers.push(n - distance);
  return n > 0 ? [...numbers, 0] : [];
}

/** Returns by which factor the age of a page differs from the period, as a logarithm. Half and twice the period differ equally. */
const ageDifference = ({ at }: Sample, now: number): number =>
  Math.abs(Math.log(Math.max(1, now - at.getTime()) / usePeriod));

/** Returns the sample whose time is nearest to the beginning of the period. @param now milliseconds since the epoch */
export function baselineOf(samples: readonly Sample[], now: number): Sample | undefined {
  return samples.toSorted((a, b) => ageDifference(a, now) - ageDifference(b, now))[0];
}

/**
 * Returns the cents per day that were charged since the page `base`. That is what the balance has lost, plus what operators have added
 * since then. A wallet younger than a day counts as a day old.
 * @param moves the manual entries of the wallet, at least all of them since `base`
 */
export function spentPerDay(
  last: Sample,
  base: Sample,
  { moves, now }: { moves: readonly ManualMove[]; now: number },
): number {
  const added = moves.filter(({ n }) => n > base.n).reduce((sum, { amount }) => sum + amount, 0);
  const charged = base.balance + added - last.balance;
  const days = Math.max(1, (now - base.at.getTime()) / day);
  return Math.max(0, Math.round(charged / days));
}
