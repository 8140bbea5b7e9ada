export interface Column {
  heading: string;
  /** Whether values are never shortened. Identifiers, times and numbers are shown in full or not at all. */
  whole?: boolean;
  /** Whether values are dotted names, which are shortened at the beginning because their end is more important. */
  dotted?: boolean;
}

const gap = 2;
/** The smallest width at which a column is readable. Dotted names get it if there is room. */
const readable = 14;
const readableName = 18;
/** If fewer columns than this fit, each row is shown as a block of lines. */
const fewest = 3;

/** Shortens a dotted name to the longest end that fits, from a dot on if possible: `…session.failed`. */
function cutFront(text: string, width: number): string {
  const room = width - 1;
  const starts = [...text.matchAll(/\./g)].map(({ index }) => index + 1);
  const start = starts.find((at) => text.length - at <= room) ?? text.length - room;
  return `…${text.slice(start)}`;
}

function cut(text: string, width: number, { dotted = false }: Column): string {
  if (text.length <= width) return text;
  return dotted ? cutFront(text, width) : `${text.slice(0, width - 1)}…`;
}

type Rows = readonly (readonly string[])[];

function naturalWidths(columns: readonly Column[], rows: Rows): number[] {
  return columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
}

/** Returns the smallest width of a column. With `names`, dotted names keep two of their words. */
const least = ({ whole = false, dotted = false }: Column, natural: number, names: boolean): number =>
  whole ? natural : Math.min(natural, dotted && names ? readableName : readable);

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));

/** Narrows the widest columns until all fit into `available` characters; undefined if they cannot fit. */
function narrow(
  columns: readonly Column[],
  natural: readonly number[],
  available: number,
): number[] | undefined {
  const floors = [true, false].map((names) =>
    columns.map((column, index) => least(column, natural[index] ?? 0, names)),
  );
  const floor = floors.find((widths) => total(widths) <= available);
  if (!floor) return undefined;
  const widths = [...natural];
  while (total(widths) > available) {
    const slack = widths.map((width, index) => (width > (floor[index] ?? 0) ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

const pick = <V>(values: readonly V[], chosen: readonly number[]): V[] =>
  chosen.flatMap((index) => values.slice(index, index + 1));

/**
 * Chooses the columns of a table of `width` characters. Columns in `drop` are left out first, in that order, then columns from
 * the right.
 * @returns the indexes of the columns; undefined if too few fit
 */
export function fitColumns(
  columns: readonly Column[],
  rows: Rows,
  { width, drop }: { width: number; drop: readonly number[] },
): number[] | undefined {
  const natural = naturalWidths(columns, rows);
  const all = columns.map((_, index) => index);
  const fits = (shown: readonly number[]): boolean =>
    narrow(pick(columns, shown), pick(natural, shown), width) !== undefined;
  const order = [...drop, ...all.toReversed().filter((index) => index > 0 && !drop.includes(index))];
  let shown = all;
  const dropped: number[] = [];
  while (!fits(shown)) {
    const next = order[dropped.length];
    if (next === undefined || shown.length <= Math.min(fewest, columns.length)) return undefined;
    dropped.push(next);
    shown = shown.filter((index) => index !== next);
  }
  // A column that was left out before a wider one may fit now.
  for (const index of dropped.toReversed()) {
    const more = all.filter((one) => one === index || shown.includes(one));
    if (fits(more)) shown = more;
  }
  return shown;
}

/** Renders `name  value` lines with aligned values. */
export function renderFields(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
}

/**
 * Renders a table of `width` characters with headings. If its columns do not fit, each row becomes a block of lines.
 * Without a width (a pipe), headings and rows are tab-separated.
 */
export function renderTable(columns: readonly Column[], rows: Rows, width?: number): string[] {
  const headings = columns.map(({ heading }) => heading);
  if (width === undefined) return [headings, ...rows].map((row) => row.join('\t'));
  const widths = narrow(columns, naturalWidths(columns, rows), width);
  if (!widths) {
    const blocks = rows.map((row) =>
      renderFields(headings.map((heading, index) => [heading, row[index] ?? ''])),
    );
    return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  }
  const line = (row: readonly string[]): string =>
    columns
      .map((column, index) => cut(row[index] ?? '', widths[index] ?? 0, column).padEnd(widths[index] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd();
  return [headings, ...rows].map(line);
}
