import type { MenuItem } from './menu.ts';
import type { Field, PageContext, Section, View } from './page.ts';
import { type Columns, queryOf, tableOf } from './text.ts';

export const pageSize = 50;

interface List<Row> extends Pick<Section, 'note' | 'links'> {
  search?: readonly Field[];
  rows: readonly Row[];
  /** The last record that was read, if a search stopped early to save time. */
  stoppedAfter?: string | null;
  columns: Columns<Row>;
  /** What would be in an empty list. */
  empty: string;
  below?: readonly Section[];
}

/** The part of the input that the procedures of all lists have: the partner, and the page of the list. */
export const pageOf = ({ partnerId, query: { after } }: PageContext) => ({
  partnerId,
  after,
  limit: pageSize,
});

/** Says what a search has found, or a further page of it; undefined if nothing was searched. */
export function foundIn(
  { search, table, next, empty }: Section,
  { query, m }: PageContext,
): string | undefined {
  const names = ['after', 'afterSeq', ...(search?.fields ?? []).map(({ name }) => name)];
  if (!search || !table || names.every((name) => query[name] === undefined)) return undefined;
  const count = table.rows.length;
  return count === 0 ? (empty ?? m.nothingMatches) : `${m.results}: ${count}${next ? '+' : ''}`;
}

/** Makes the view of one page of a list, with a link to the next page, which keeps the search. @param nav the list's entry in the menu */
export function listView<Row extends { id: string }>(
  { m, path, query }: PageContext,
  nav: MenuItem,
  list: List<Row>,
): View {
  const { search, rows, stoppedAfter, columns, empty, below = [], ...section } = list;
  const title = m[nav];
  const isFull = rows.length === pageSize;
  const narrowing = ['mode', ...(search ?? []).map(({ name }) => name)];
  const isSearched = narrowing.some((name) => query[name] !== undefined);
  const lastRead = isFull ? rows.at(-1)?.id : stoppedAfter;
  return {
    title,
    sections: [
      {
        ...section,
        title,
        search: search && { fields: search, submit: m.find },
        table: tableOf(rows, columns),
        empty: isSearched ? m.nothingMatches : empty,
        next: lastRead ? `${path}?${queryOf({ ...query, after: lastRead })}` : undefined,
      },
      ...below,
    ],
  };
}
