import { formatValue, label } from './format.ts';
import { type Column, fitColumns, renderTable } from './table.ts';

/** `ptr_…` and the like, also with a mode, ids of jobs, and subjects: never cut, so that they can be copied. */
const identifier = /^(rev_)?[a-z]{3}_[0-9A-Za-z]{22}(:\w+)?$|^[0-9a-f]{24}$|^[\w-]{43}$/;
/** Columns of identifiers, whatever these look like. */
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
  /** Headings of the columns that had no room. */
  leftOut: string[];
}

interface Shape<V> {
  columns: readonly (keyof V & string)[];
  /** Which columns go first where there is no room for all. */
  drop: readonly (keyof V & string)[];
  /** Characters of the terminal; undefined for a pipe, which gets all columns. */
  width: number | undefined;
}

/** A list as a table of those columns that fit. */
export function renderListing<V extends object>(
  values: readonly V[],
  { columns, drop, width }: Shape<V>,
): Listing {
  const cells = values.map((value) => columns.map((name) => formatValue(name, value[name])));
  const all = columns.map((name, index) => ({
    // A program gets the names that --columns takes.
    heading: width === undefined ? name : label(name),
    ...columnOf(
      name,
      cells.map((row) => row[index] ?? ''),
    ),
  }));
  if (width === undefined) return { lines: renderTable(all, cells), leftOut: [] };
  const isEmpty = (index: number): boolean => cells.every((row) => row[index] === '-');
  const empty = columns.flatMap((_, index) => (index > 0 && isEmpty(index) ? [index] : []));
  // A column that says nothing of any row is the least important.
  const order = [...new Set([...empty, ...drop.map((name) => columns.indexOf(name))])];
  const shown = fitColumns(all, cells, { width, drop: order }) ?? all.map((_, index) => index);
  const only = <X>(row: readonly X[]): X[] => row.filter((_, index) => shown.includes(index));
  return {
    lines: renderTable(only(all), cells.map(only), width),
    leftOut: all.flatMap(({ heading }, index) => (shown.includes(index) ? [] : [heading])),
  };
}
