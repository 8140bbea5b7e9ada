import { beginningOf, endOf, padTo, widthOf } from './width.ts';

export interface Column {
  heading: string;
  /** Whether values are never shortened. Identifiers, times and numbers are shown in full or not at all. */
  isWhole?: boolean;
  /** Whether values are dotted names, which are shortened at the beginning because their end is more important. */
  hasDottedNames?: boolean;
}

const gap = 2;
/** The smallest width to which a column is narrowed. All widths are in columns of the terminal. */
const leastWidth = 14;
/** The smallest width of a column of dotted names, if the other columns leave room for it: enough for two words of a name. */
const leastNameWidth = 18;
/** If fewer columns than this fit, each row is shown as a block of lines. */
const fewestColumns = 3;

/** Shortens a dotted name to its longest end that fits. The end begins after a dot if possible, such as `…session.failed`. */
function cutFront(text: string, width: number): string {
  const room = width - 1;
  const starts = [...text.matchAll(/\./g)].map(({ index }) => index + 1);
  const start = starts.find((at) => widthOf(text.slice(at)) <= room);
  return `…${start === undefined ? endOf(text, room) : text.slice(start)}`;
}

function cut(text: string, width: number, { hasDottedNames = false }: Column): string {
  if (widthOf(text) <= width) return text;
  return hasDottedNames ? cutFront(text, width) : `${beginningOf(text, width - 1)}…`;
}

type Rows = readonly (readonly string[])[];

/** Returns the width of each column in which no cell is shortened. */
function naturalWidthsOf(columns: readonly Column[], rows: Rows): number[] {
  return columns.map(({ heading }, index) =>
    Math.max(widthOf(heading), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
}

/**
 * Returns the smallest width to which a column may be narrowed.
 * @param leastForNames this width for a column of dotted names, if its names are longer
 */
function floorOf(column: Column, naturalWidth: number, leastForNames: number): number {
  if (column.isWhole) return naturalWidth;
  return Math.min(naturalWidth, column.hasDottedNames ? leastForNames : leastWidth);
}

const tableWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));

/**
 * Chooses the widths of columns in a table of `available` characters. Narrows the widest column by one character until all fit.
 * @returns the widths; undefined if the columns cannot fit
 */
function fitWidths(
  columns: readonly Column[],
  naturalWidths: readonly number[],
  available: number,
): number[] | undefined {
  const floorsFor = (leastForNames: number): number[] =>
    columns.map((column, index) => floorOf(column, naturalWidths[index] ?? 0, leastForNames));
  const fits = (widths: readonly number[]): boolean => tableWidth(widths) <= available;
  // Dotted names get their wider floor only if the table fits with it.
  const floors = [floorsFor(leastNameWidth), floorsFor(leastWidth)].find(fits);
  if (!floors) return undefined;
  const widths = [...naturalWidths];
  while (!fits(widths)) {
    // A column at its smallest width counts as 0, so that it is not narrowed.
    const canNarrow = widths.map((width, index) => (width > (floors[index] ?? 0) ? width : 0));
    const widest = canNarrow.indexOf(Math.max(...canNarrow));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Returns the values at these indexes, which are in ascending order. */
const pick = <V>(values: readonly V[], indexes: readonly number[]): V[] =>
  values.filter((_, index) => indexes.includes(index));

/**
 * Chooses the columns of a table of `width` characters. Leaves out the columns in `dropFirst` in their order, then the other
 * columns from right to left. The first column always stays.
 * @returns the indexes of the columns, in ascending order; undefined if too few fit
 */
export function fitColumns(
  columns: readonly Column[],
  rows: Rows,
  { width, dropFirst }: { width: number; dropFirst: readonly number[] },
): number[] | undefined {
  const naturalWidths = naturalWidthsOf(columns, rows);
  const all = columns.map((_, index) => index);
  const fits = (shown: readonly number[]): boolean =>
    fitWidths(pick(columns, shown), pick(naturalWidths, shown), width) !== undefined;
  const others = all.toReversed().filter((index) => index > 0 && !dropFirst.includes(index));
  const dropOrder = [...dropFirst, ...others];
  let shown = all;
  const dropped: number[] = [];
  for (const next of dropOrder) {
    if (fits(shown) || shown.length <= fewestColumns) break;
    dropped.push(next);
    shown = shown.filter((index) => index !== next);
  }
  if (!fits(shown)) return undefined;
  // A column that was left out before a wider one may fit now.
  for (const index of dropped.toReversed()) {
    const withIndex = all.filter((other) => other === index || shown.includes(other));
    if (fits(withIndex)) shown = withIndex;
  }
  return shown;
}

/** Renders `name  value` lines with aligned values. */
export function renderFields(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value]) => `${padTo(name, width)}  ${value}`.trimEnd());
}

/**
 * Renders a table of `width` characters with headings. If its columns do not fit, each row becomes a block of lines.
 * Without a width (a pipe), headings and rows are tab-separated.
 */
export function renderTable(columns: readonly Column[], rows: Rows, width?: number): string[] {
  const headings = columns.map(({ heading }) => heading);
  if (width === undefined) return [headings, ...rows].map((row) => row.join('\t'));
  const widths = fitWidths(columns, naturalWidthsOf(columns, rows), width);
  if (!widths) {
    const blocks = rows.map((row) =>
      renderFields(headings.map((heading, index) => [heading, row[index] ?? ''])),
    );
    // An empty line separates two blocks.
    return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  }
  const line = (row: readonly string[]): string =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0;
        return padTo(cut(row[index] ?? '', width, column), width);
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [headings, ...rows].map(line);
}
