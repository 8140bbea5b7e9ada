import { mostPerPage, withoutUndefined } from '../flags/flags.ts';
import { createFilter } from './where.ts';

/** A page as the list shows it. */
export interface Page<Row> {
  rows: readonly Row[];
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the server stopped because it had read the most records that one search may read. */
  isStopped: boolean;
}

interface PageRequest {
  limit: number;
  after?: string;
}

/** Reads a page from the server. A search also returns the record after which it stopped; null if it read to the end. */
export type ReadPage<Row> = (
  request: PageRequest,
) => Promise<readonly Row[] | { rows: readonly Row[]; stoppedAfter: string | null }>;

/** The flags that choose the pages to read. */
interface PageFlags {
  /** Undefined only for a list without --limit, because the flag has a default. The server returns such a list in one response. */
  limit?: number;
  after?: string;
  all?: boolean;
}

/** Returns the id after which --after continues a list; null for a row without an id. */
function idOf(row: object | undefined): string | null {
  return row && 'id' in row && typeof row.id === 'string' ? row.id : null;
}

/**
 * Reads one page, and finds the record after which the next page begins.
 * @param hasLimitFlag whether the list has a --limit. Another list has only one page, however many rows it has
 */
async function readOnePage<Row extends object>(
  read: ReadPage<Row>,
  { limit, after, hasLimitFlag }: { limit: number; after: string | undefined; hasLimitFlag: boolean },
): Promise<Page<Row>> {
  const response = await read({ limit, ...withoutUndefined({ after }) });
  const { rows, stoppedAfter } = 'rows' in response ? response : { rows: response, stoppedAfter: null };
  // After a full page there may be another one. After a shorter page there is none, unless a search has stopped.
  if (hasLimitFlag && rows.length >= limit) return { rows, next: idOf(rows.at(-1)), isStopped: false };
  return { rows, next: stoppedAfter, isStopped: stoppedAfter !== null };
}

/** Reads all pages if `all` is set, else one page. A list without --limit has only one page, also with `all`. */
export async function* readPages<Row extends object>(
  read: ReadPage<Row>,
  { limit, after, all }: PageFlags,
): AsyncGenerator<Page<Row>> {
  const hasLimitFlag = limit !== undefined;
  const limitPerPage = hasLimitFlag && !all ? limit : mostPerPage;
  let afterId = after;
  for (;;) {
    const page = await readOnePage(read, { limit: limitPerPage, after: afterId, hasLimitFlag });
    yield page;
    if (!all || page.next === null) return;
    afterId = page.next;
  }
}

interface Conditions<Row, Shown> {
  /** The conditions of --where. */
  where: readonly string[];
  columns: readonly string[];
  show: (row: Row) => Shown;
  /** Whether the list has a --limit. */
  hasLimitFlag: boolean;
}

/** Cuts rows to a limit. Keeps all rows if they have no ids, because --after could not show the rows behind the cut. */
function cutToLimit<Row extends object>(rows: readonly Row[], limit: number): readonly Row[] {
  const cut = rows.slice(0, limit);
  return idOf(cut.at(-1)) === null ? rows : cut;
}

/** Returns a reader of the rows that meet the conditions. It reads pages until enough rows are found or the list ends. */
export function withConditions<Row extends object, Shown extends object>(
  read: ReadPage<Row>,
  { where, columns, show, hasLimitFlag }: Conditions<Row, Shown>,
): ReadPage<Row> {
  const isWanted = createFilter(where, columns);
  return async ({ limit, after }) => {
    const found: Row[] = [];
    let afterId = after;
    for (;;) {
      const { rows, next } = await readOnePage(read, { limit: mostPerPage, after: afterId, hasLimitFlag });
      found.push(...rows.filter((row) => isWanted(show(row))));
      if (next === null || found.length >= limit) return cutToLimit(found, limit);
      afterId = next;
    }
  };
}
