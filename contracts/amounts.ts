/** Writes cents as a decimal number of dollars without separators, such as `1234.50`, so that spreadsheets can calculate with it. */
export function decimal(cents: number): string {
  // Only an altered ledger has amounts that are no whole cents.
  if (!Number.isSafeInteger(cents)) return (cents / 100).toFixed(2);
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Writes cents as an amount with its currency, such as `1234.50 USD`. */
export const dollars = (cents: number): string => `${decimal(cents)} USD`;
