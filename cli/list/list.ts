import { type ReadPage, withConditions } from './pages.ts';
import type { SampledTotal } from './totals.ts';
import { collectValues } from './where.ts';

/** A list: the source of its rows, and how they are shown. */
export interface List<Row extends object, Shown extends object> {
  /** Reads the rows of one page. A list without pages returns all rows. */
  page: ReadPage<Row>;
  /** Counts the records. Without it, --count reads all pages. */
  count?: () => Promise<SampledTotal>;
  columns: readonly (keyof Shown & string)[];
  /** Returns the names of the other fields of a shown row. Read only for a list without rows, whose columns no row tells. */
  fields: () => Promise<readonly string[]>;
  /** Columns that are left out first if the terminal is narrow. */
  dropIfNarrow?: readonly (keyof Shown & string)[];
  /** Converts a row for tables. Without it, rows are shown unchanged. */
  show?: (row: Row) => Shown;
  /** Returns the number of records that a row stands for. Without it, one. */
  weigh?: (row: Row) => number;
  /** Returns sentences about the rows, which are shown below the table. */
  notes?: (rows: readonly Row[]) => readonly string[];
  /** How long the records are kept, in milliseconds. Without it, for ever. */
  keptMs?: number;
}

/** A list after the flags are applied: its pages have only the rows that meet the conditions of --where. */
export interface Source<Row extends object, Shown extends object> extends List<Row, Shown> {
  show: (row: Row) => Shown;
  /** Returns sentences that say which values there are, for the case that no record meets the conditions. */
  describeValues: () => readonly string[];
}

/**
 * Returns the list with only the rows that meet conditions.
 * @param where the conditions of --where; undefined if there are none
 */
export function applyConditions<Row extends object, Shown extends object>(
  list: List<Row, Shown>,
  where: readonly string[] | undefined,
): Source<Row, Shown> {
  const { show = (row: Row) => row as unknown as Shown, columns } = list;
  if (where === undefined) return { ...list, show, describeValues: () => [] };
  // The server counts without the conditions, so its count cannot be used.
  const { count: _count, ...rest } = list;
  const { note, describe } = collectValues(where, columns);
  const noted = (row: Row) => note(show(row));
  const page = withConditions(list.page, { where, columns, show: noted });
  return { ...rest, show, page, describeValues: describe };
}
