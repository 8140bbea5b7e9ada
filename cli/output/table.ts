export interface Column {
  heading: string;
  /** Never cut: identifiers are shown in full, whatever the width. */
  whole?: boolean;
  /** Cut only where nothing else can be. */
  time?: boolean;
}

const gap = 2;
const narrowest = 8;

const cut = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text;

/** Widths that fit `available` characters by narrowing the widest columns that may be cut; undefined if none do. */
function narrow(
  columns: readonly Column[],
  natural: readonly number[],
  available: number,
): number[] | undefined {
  const widths = [...natural];
  const room = available - gap * (columns.length - 1);
  const total = () => widths.reduce((sum, width) => sum + width, 0);
  while (total() > room) {
    const widest = columns.reduce<number | undefined>((best, { whole }, index) => {
      const width = widths[index] ?? 0;
      return whole || width <= narrowest || (best !== undefined && width <= (widths[best] ?? 0))
        ? best
        : index;
    }, undefined);
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** `name  value` lines, values aligned. */
export function renderFields(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
}

/**
 * A table of `width` characters with its headings; where identifiers alone are too wide for that, each row
 * becomes a block of lines. Without a width (piped), rows are tab-separated and have no heading.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width?: number,
): string[] {
  if (width === undefined) return rows.map((row) => row.join('\t'));
  const headings = columns.map(({ heading }) => heading);
  const natural = columns.map((_, index) =>
    Math.max(...[headings, ...rows].map((row) => row[index]?.length ?? 0)),
  );
  const sparingTimes = columns.map(({ heading, whole = false, time = whole }) => ({
    heading,
    whole: whole || time,
  }));
  const widths = narrow(sparingTimes, natural, width) ?? narrow(columns, natural, width);
  if (!widths) {
    const blocks = rows.map((row) =>
      renderFields(headings.map((heading, index) => [heading, row[index] ?? ''])),
    );
    return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  }
  const line = (row: readonly string[]): string =>
    row
      .map((text, index) => cut(text, widths[index] ?? 0).padEnd(widths[index] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd();
  return [headings, ...rows].map(line);
}
