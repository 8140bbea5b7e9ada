import { isMoney } from './format.ts';

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

/** `createdAt` as `created_at`. */
const heading = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A value as a program reads it: times in UTC, money in decimal dollars, several values with spaces between them. */
function plainValue(name: string, value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return isMoney(name) ? decimal(value) : value;
  if (typeof value === 'string') return value;
  const isWords = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isWords ? value.join(' ') : JSON.stringify(value);
}

/** The lines of a CSV file of these columns: the headings, then the rows. */
export function renderCsvRows<V extends object>(
  columns: readonly (keyof V & string)[],
  rows: readonly V[],
): string[] {
  return renderCsv(
    columns.map(heading),
    rows.map((row) => columns.map((name) => plainValue(name, row[name]))),
  );
}

/** Cents as a decimal number, without separators: a cell to calculate with. */
export function decimal(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
