/** The most digits of an amount. A number can represent this many digits exactly. */
const mostDigits = 12;

/**
 * Parses `50`, `50.00` or `0.5` as whole cents, without floating point. Negative amounts are allowed if `signed`.
 * @returns undefined if the text is not an amount of dollars
 */
export function parseDollars(text: string, { signed = false } = {}): number | undefined {
  const [, sign = '', dollars = '', cents = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (!dollars || dollars.length > mostDigits || (sign && !signed)) return undefined;
  const amount = Number(dollars) * 100 + Number(cents.padEnd(2, '0'));
  return sign && amount > 0 ? -amount : amount;
}

/** Writes whole cents as `1,234.50`. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}${dollars}.${digits.slice(-2)}`;
}

/** Writes the change of a balance, such as `50.00 → 100.00 USD`. */
export const describeMove = (before: number, after: number): string =>
  `${formatCents(before)} → ${formatCents(after)} USD`;

/** Returns a note such as `, 12.5 days left` for a balance in cents; an empty text if nothing is spent. */
export const daysLeftNote = (balance: number, spentPerDay: number): string =>
  spentPerDay > 0 ? `, ${Math.round((balance / spentPerDay) * 10) / 10} days left` : '';
