/** Digits of an amount. A wallet moves less at a time, and a number holds that many exactly. */
const mostDigits = 12;

/**
 * `50`, `50.00` or `0.5` as whole cents, without floating point. Negative where `signed`.
 * @returns undefined where the text is not an amount of dollars
 */
export function parseDollars(text: string, { signed = false } = {}): number | undefined {
  const [, sign = '', dollars = '', cents = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (!dollars || dollars.length > mostDigits || (sign && !signed)) return undefined;
  const amount = Number(dollars) * 100 + Number(cents.padEnd(2, '0'));
  return sign && amount > 0 ? -amount : amount;
}

/** Whole cents as `1,234.50`. */
export function formatCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}${dollars}.${digits.slice(-2)}`;
}

/** `, 12.5 days left` of a balance in cents; nothing where nothing is spent. */
export const daysLeftNote = (balance: number, spentPerDay: number): string =>
  spentPerDay > 0 ? `, ${Math.round((balance / spentPerDay) * 10) / 10} days left` : '';
