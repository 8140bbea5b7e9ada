/** Writes cents as a decimal number of dollars without separators, such as `1234.50`, so that spreadsheets can calculate with it. */
export function decimal(cents: number): string {
  // Only an altered ledger has amounts that are no whole cents.
  if (!Number.isSafeInteger(cents)) return (cents / 100).toFixed(2);
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Writes cents as an amount with its currency, such as `1234.50 USD`. */
export const dollars = (cents: number): string => `${decimal(cents)} USD`;

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
