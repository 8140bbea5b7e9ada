import { isAllowed } from '../../calls/scope.ts';
import type { Cell, PageContext, Section } from './page.ts';

/** A time in UTC, such as `2026-07-01 09:00:00`; a dash without a time. */
const timeText = (at: string | null | undefined): string => (at ? at.slice(0, 19).replace('T', ' ') : '–');

/** The same as a part of a sentence, with the zone. */
export const utcText = (at: string): string => `${timeText(at)} UTC`;

/** A plain text; a dash if there is none. */
export const text = (value: string | number | null | undefined): Cell => ({
  text: value === null || value === undefined || value === '' ? '–' : String(value),
});
/** A text that has no translation, or a dash. A screen reader reads it in English on all pages. */
export const english = (value: string | null | undefined): Cell => ({
  ...text(value),
  isEnglish: Boolean(value),
});
export const time = (at: string | null | undefined): Cell => ({
  ...text(timeText(at)),
  ...(at ? { at } : {}),
  isWhole: true,
});
export const percent = (share: number | null): Cell =>
  text(share === null ? null : `${Math.round(share * 1000) / 10} %`);
export const toned = (value: string, tone: Cell['tone']): Cell => ({ text: value, tone });
export const link = (id: string, to: string, note?: string): Cell => ({ text: id, to, note });

/** A link to the page of a record below `listPath`; a dash if there is no record. */
export const linkIfAny = (id: string | null | undefined, listPath: string): Cell =>
  id ? link(id, `${listPath}/${id}`) : text(null);

/** The same for a page that only some roles may open. Others read the id. @param page the path of the list, and its procedure */
export const linkIfAllowed = (
  { role }: Pick<PageContext, 'role'>,
  id: string | null | undefined,
  { path, needs }: { path: string; needs: string },
): Cell => (id && isAllowed(role, needs) ? link(id, `${path}/${id}`) : text(id));

/** The columns of a table. Each has a heading, and a function that makes its cell for one row. */
export type Columns<Row> = readonly (readonly [heading: string, cellOf: (row: Row) => Cell])[];

export const tableOf = <Row>(rows: readonly Row[], columns: Columns<Row>): NonNullable<Section['table']> => ({
  headings: columns.map(([heading]) => heading),
  rows: rows.map((row) => columns.map(([, cellOf]) => cellOf(row))),
});

/** Makes the query of an address. Values that are missing or empty are left out. */
export function queryOf(values: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value);
  }
  return query.toString();
}

export const wordsOf = (value: string | undefined): string[] =>
  (value ?? '').split(/[\s,]+/).filter((word) => word !== '');

export const options = (values: readonly string[]) => values.map((value) => ({ value, text: value }));

/** In a search, the option that does not restrict the result. */
export const anyOption = { value: '', text: '–' };
