export interface Column {
  heading: string;
  /** Never cut: identifiers, times and numbers are shown in full or not at all. */
  whole?: boolean;
  /** A dotted name: its end tells more than its beginning. */
  dotted?: boolean;
}

const gap = 2;
/** Narrowest readable width of a column; dotted names get it where there is room. */
const readable = 14;
const readableName = 18;
/** With fewer columns than this, a row is a block of lines instead. */
const fewest = 3;

/** The longest end of a dotted name that fits, from a dot on where possible: `…session.failed`. */
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

/** Narrowest width of a column; with `names`, dotted names keep two of their words. */
const least = ({ whole = false, dotted = false }: Column, natural: number, names: boolean): number =>
  whole ? natural : Math.min(natural, dotted && names ? readableName : readable);

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));

/** Widths that fit `available` characters by narrowing the widest columns; undefined where none do. */
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
 * Which columns a table of `width` characters shows. Those of `drop` go first, in that order, then from the right.
 * @returns their indexes; undefined where too few fit
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
  // One that was dropped before a wider one may have room now.
  for (const index of dropped.toReversed()) {
    const more = all.filter((one) => one === index || shown.includes(one));
    if (fits(more)) shown = more;
  }
  return shown;
}

/** `name  value` lines, values aligned. */
export function renderFields(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
}

/**
 * A table of `width` characters with its headings; where its columns do not fit, each row becomes a block of lines.
 * Without a width (piped), headings and rows are tab-separated.
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
