import type { Cell, Given, Section } from './page.ts';

/** A time in UTC, such as `2026-07-01 09:00:00`; a dash without a time. */
const timeText = (at: string | null | undefined): string => (at ? at.slice(0, 19).replace('T', ' ') : '–');

/** A plain text; a dash if there is none. */
export const text = (value: string | number | null | undefined): Cell => ({
  text: value === null || value === undefined || value === '' ? '–' : String(value),
});
export const time = (at: string | null | undefined): Cell => ({ ...text(timeText(at)), isWhole: true });
/** A share from 0 to 1 as a percentage. */
export const percent = (share: number | null): Cell =>
  text(share === null ? null : `${Math.round(share * 100)} %`);
export const toned = (value: string, tone: Cell['tone']): Cell => ({ text: value, tone });
/** A link to the page of a record. */
export const link = (id: string, to: string, note?: string): Cell => ({ text: id, to, note });

/** A link to the page of a record below `listPath`; a dash if there is no record. */
export const linkIfAny = (id: string | null | undefined, listPath: string): Cell =>
  id ? link(id, `${listPath}/${id}`) : text(null);

/** Makes a table. A column has a heading, and a function that makes its cell for one row. */
export const tableOf = <Row>(
  rows: readonly Row[],
  columns: readonly (readonly [heading: string, cellOf: (row: Row) => Cell])[],
): NonNullable<Section['table']> => ({
  headings: columns.map(([heading]) => heading),
  rows: rows.map((row) => columns.map(([, cellOf]) => cellOf(row))),
});

/** Makes the query of an address. Values that are missing or empty are left out. */
export const queryOf = (values: Readonly<Record<string, string | null | undefined>>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
  ).toString();

/** Splits a text at spaces, commas and line breaks. */
export const wordsOf = (value: string | undefined): string[] =>
  (value ?? '').split(/[\s,]+/).filter((word) => word !== '');

/** The most records that one page of a list shows. */
export const pageSize = 50;

/**
 * Returns the path of the next page of a list, with the same search; undefined on the last page.
 * @param path the path of the list
 * @param query the search of the shown page
 * @param shown the records of the page. `stoppedAfter`: the last record that was read, if the search stopped early to save time
 */
export function nextPage(
  path: string,
  query: Given,
  { rows, stoppedAfter = null }: { rows: readonly { id: string }[]; stoppedAfter?: string | null },
): string | undefined {
  const isFull = rows.length === pageSize;
  const lastRead = isFull ? rows.at(-1)?.id : stoppedAfter;
  return lastRead ? `${path}?${queryOf({ ...query, after: lastRead })}` : undefined;
}

/** Returns options that show their values. */
export const options = (values: readonly string[]) => values.map((value) => ({ value, text: value }));

/** In a search, the option that does not restrict the result. */
export const anyOption = { value: '', text: '–' };
