import { formatValue, label } from './format.ts';
import { type Column, fitColumns, renderTable } from './table.ts';

/** Identifiers such as `ptr_…`, also with a mode, ids of jobs, and subjects. They are never shortened, so that they can be copied. */
const identifier = /^(rev_)?[a-z]{3}_[0-9A-Za-z]{22}(:\w+)?$|^[0-9a-f]{24}$|^[\w-]{43}$/;
/** Names of columns that contain identifiers. */
const named = /^(id|sub|target|lastRequest)$|Id$/;
const time = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{2}:\d{2}$/;
const number = /^-?[\d,]+(\.\d+)?$/;
const dottedName = /^[a-z]\w*(\.\w+)+(: \w+)?$/i;

function columnOf(name: string, cells: readonly string[]): Omit<Column, 'heading'> {
  return {
    whole:
      named.test(name) || cells.some((cell) => identifier.test(cell) || time.test(cell) || number.test(cell)),
    dotted: cells.some((cell) => dottedName.test(cell)),
  };
}

export interface Listing {
  lines: string[];
  /** The headings of the columns that did not fit. */
  leftOut: string[];
}

interface Shape<V> {
  columns: readonly (keyof V & string)[];
  /** The columns that are left out first if not all of them fit. */
  drop: readonly (keyof V & string)[];
  /** The width of the terminal in characters. Undefined for a pipe, which gets all columns. */
  width: number | undefined;
}

/** Renders a list as a table with the columns that fit. */
export function renderListing<V extends object>(
  values: readonly V[],
  { columns, drop, width }: Shape<V>,
): Listing {
  const cells = values.map((value) => columns.map((name) => formatValue(name, value[name])));
  const all = columns.map((name, index) => ({
    // A program gets the column names that --columns accepts.
    heading: width === undefined ? name : label(name),
    ...columnOf(
      name,
      cells.map((row) => row[index] ?? ''),
    ),
  }));
  if (width === undefined) return { lines: renderTable(all, cells), leftOut: [] };
  const isEmpty = (index: number): boolean => cells.every((row) => row[index] === '-');
  const empty = columns.flatMap((_, index) => (index > 0 && isEmpty(index) ? [index] : []));
  // Columns that are empty in every row are left out first.
  const order = [...new Set([...empty, ...drop.map((name) => columns.indexOf(name))])];
  const shown = fitColumns(all, cells, { width, drop: order }) ?? all.map((_, index) => index);
  const only = <X>(row: readonly X[]): X[] => row.filter((_, index) => shown.includes(index));
  return {
    lines: renderTable(only(all), cells.map(only), width),
    leftOut: all.flatMap(({ heading }, index) => (shown.includes(index) ? [] : [heading])),
  };
}
