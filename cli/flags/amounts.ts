import { decimal, parseDollars } from '../../contracts/amounts.ts';

/** Parses an amount as `formatCents` writes it, or as a person does: with all commas of thousands, or with none. */
export function parseFormattedCents(text: string): number | undefined {
  const hasCommas = /^-?\d{1,3}(?:,\d{3})+(?:\.|$)/.test(text);
  return parseDollars(hasCommas ? text.replaceAll(',', '') : text, { canBeNegative: true });
}

/** Writes whole cents as `1,234.50`. */
export function formatCents(cents: number): string {
  // A comma before every third digit from the point.
  return decimal(cents).replace(/\B(?=(\d{3})+\.)/g, ',');
}

/** Describes the change of a balance in cents, such as `50.00 → 100.00 USD`. */
export const describeMove = (balanceBefore: number, balanceAfter: number): string =>
  `${formatCents(balanceBefore)} → ${formatCents(balanceAfter)} USD`;

/** Returns a note such as `, 12.5 days left` for a balance in cents; an empty text if no money is spent. */
export const daysLeftNote = (balance: number, spentPerDay: number): string =>
  spentPerDay > 0 ? `, ${Math.round((balance / spentPerDay) * 10) / 10} days left` : '';
