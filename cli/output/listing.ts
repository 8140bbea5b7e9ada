import { formatValue, label } from './format.ts';
import { type Column, fitColumns, renderTable } from './table.ts';

/** The forms of values that are never shortened, because a part of them is useless: a person cannot copy a part of an id. */
const wholeForms = [
  // The id of a record, of a wallet (`ptr_…:live`) or of a refund (`rev_txn_…`).
  /^(rev_)?[a-z]{3}_[0-9A-Za-z]{22}(:\w+)?$/,
  // The id of a job.
  /^[0-9a-f]{24}$/,
  // A subject.
  /^[\w-]{43}$/,
  // A time, as `localTime` writes it.
  /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{2}:\d{2}$/,
  // A number or an amount.
  /^-?[\d,]+(\.\d+)?$/,
];
/** Matches the name of an event or an action, which may have a result: `vae.resolved`, `users.show: refused`. */
const dottedNameForm = /^[a-z]\w*(\.\w+)+(: \w+)?$/i;
/** Matches the names of columns that contain ids. The ids of some records have other forms. */
const idColumn = /^(id|sub|target|lastRequest)$|Id$/;

function columnOf(name: string, heading: string, cells: readonly string[]): Column {
  const isWholeForm = (cell: string) => wholeForms.some((form) => form.test(cell));
  return {
    heading,
    isWhole: idColumn.test(name) || cells.some(isWholeForm),
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
  dropIfNarrow: readonly (keyof V & string)[];
  /** The width of the terminal in characters. Undefined for a pipe, which gets all columns. */
  width: number | undefined;
}

/** Renders a list as a table with the columns that fit. */
export function renderListing<V extends object>(
  values: readonly V[],
  { columns: names, dropIfNarrow, width }: Shape<V>,
): Listing {
  const rows = values.map((value) => names.map((name) => formatValue(name, value[name])));
  const columns = names.map((name, index) => {
    // A program gets the column names that --columns accepts.
    const heading = width === undefined ? name : label(name);
    return columnOf(name, heading, cellsOf(rows, index));
  });
  if (width === undefined) return { lines: renderTable(columns, rows), leftOut: [] };
  // Empty columns are left out before all others, because they tell nothing.
  const indexesToDrop = dropIfNarrow.map((name) => names.indexOf(name));
  const dropFirst = [...new Set([...emptyColumns(columns, rows), ...indexesToDrop])];
  // If too few columns fit, `renderTable` shows all of them, as a block of lines for each row.
  const shown = fitColumns(columns, rows, { width, dropFirst }) ?? columns.map((_, index) => index);
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
