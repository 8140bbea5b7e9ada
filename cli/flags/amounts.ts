import { decimal } from '../../contracts/amounts.ts';

/** The most digits of an amount in dollars, so that its cents are a whole number that JavaScript represents exactly. */
const mostDigits = 12;

/**
 * Parses `50`, `50.00` or `0.5` as whole cents, without floating point. Parses a negative amount only if `canBeNegative`.
 * @returns undefined if the text is not an amount of dollars
 */
export function parseDollars(text: string, { canBeNegative = false } = {}): number | undefined {
  const form = /^(?<sign>-?)(?<dollars>\d+)(?:\.(?<cents>\d{1,2}))?$/;
  const { sign = '', dollars = '', cents = '' } = form.exec(text)?.groups ?? {};
  if (!dollars || dollars.length > mostDigits || (sign && !canBeNegative)) return undefined;
  const amount = Number(dollars) * 100 + Number(cents.padEnd(2, '0'));
  // Zero stays without a sign, because JavaScript distinguishes -0 from 0.
  return sign && amount > 0 ? -amount : amount;
}

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
