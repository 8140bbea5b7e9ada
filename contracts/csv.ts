/** A spreadsheet takes a cell that begins so for a formula; with a quote before it, for text. */
const formula = /^[=+\-@\t\r]/;
const plainNumber = /^-?\d+(\.\d+)?$/;

/** One cell of RFC 4180; what a spreadsheet would calculate is made text, unless it is a plain number. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const harmless = formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The lines of a CSV file: the headings, then the rows. */
export function renderCsv(
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string[] {
  return [headings, ...rows].map((row) => row.map(cell).join(','));
}

/** Cents as a decimal number, without separators: a cell to calculate with. */
export function decimal(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
