import { decimal, renderCsv } from '../../contracts/csv.ts';
import { isMoney } from './format.ts';

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
