import { decimal } from '../../contracts/amounts.ts';
import { renderCsv } from '../../contracts/csv.ts';
import { isMoney } from './format.ts';

/** Converts `createdAt` to `created_at`. */
const heading = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Converts a value for programs: times in UTC, money in decimal dollars, lists separated by spaces. */
function plainValue(name: string, value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return isMoney(name) ? decimal(value) : value;
  if (typeof value === 'string') return value;
  const isWords = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isWords ? value.join(' ') : JSON.stringify(value);
}

/** Returns the lines of a CSV file with these columns: the headings, then the rows. */
export function renderCsvRows<V extends object>(
  columns: readonly (keyof V & string)[],
  rows: readonly V[],
): string[] {
  return renderCsv(
    columns.map(heading),
    rows.map((row) => columns.map((name) => plainValue(name, row[name]))),
  );
}
