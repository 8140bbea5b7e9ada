import { formatValue, label } from './format.ts';
import { type Column, fitColumns, renderTable } from './table.ts';

/** Matches ids, such as `ptr_…`, a wallet, a job or a subject. They are never shortened, so that a person can copy them. */
const idForm = /^(rev_)?[a-z]{3}_[0-9A-Za-z]{22}(:\w+)?$|^[0-9a-f]{24}$|^[\w-]{43}$/;
const timeForm = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{2}:\d{2}$/;
const numberForm = /^-?[\d,]+(\.\d+)?$/;
const dottedNameForm = /^[a-z]\w*(\.\w+)+(: \w+)?$/i;
/** Matches the names of columns that contain ids. */
const idColumn = /^(id|sub|target|lastRequest)$|Id$/;

function columnOf(name: string, heading: string, cells: readonly string[]): Column {
  const isNeverCut = (cell: string) => [idForm, timeForm, numberForm].some((form) => form.test(cell));
  return {
    heading,
    isWhole: idColumn.test(name) || cells.some(isNeverCut),
    hasDottedNames: cells.some((cell) => dottedNameForm.test(cell)),
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
  { columns: names, drop, width }: Shape<V>,
): Listing {
  const rows = values.map((value) => names.map((name) => formatValue(name, value[name])));
  const columns = names.map((name, index) => {
    // A program gets the column names that --columns accepts.
    const heading = width === undefined ? name : label(name);
    return columnOf(name, heading, cellsOf(rows, index));
  });
  if (width === undefined) return { lines: renderTable(columns, rows), leftOut: [] };
  const dropOrder = [
    ...new Set([...emptyColumns(columns, rows), ...drop.map((name) => names.indexOf(name))]),
  ];
  const shown = fitColumns(columns, rows, { width, drop: dropOrder }) ?? columns.map((_, index) => index);
  const onlyShown = <X>(row: readonly X[]): X[] => row.filter((_, index) => shown.includes(index));
  return {
    lines: renderTable(onlyShown(columns), rows.map(onlyShown), width),
    leftOut: columns.flatMap(({ heading }, index) => (shown.includes(index) ? [] : [heading])),
  };
}

const cellsOf = (rows: readonly (readonly string[])[], index: number): string[] =>
  rows.map((row) => row[index] ?? '');

/** Returns the indexes of the columns that are empty in every row. The first column always stays. */
const emptyColumns = (columns: readonly Column[], rows: readonly (readonly string[])[]): number[] =>
  columns.flatMap((_, index) =>
    index > 0 && cellsOf(rows, index).every((cell) => cell === '-') ? [index] : [],
  );
