import { mostPerPage } from '../flags/flags.ts';
import { createFilter } from './where.ts';

/** A page as the list shows it. */
export interface Page<Row> {
  rows: readonly Row[];
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the search stopped because it had read the most records that one search may read. */
  isStopped: boolean;
  /** Since when the records are a sample. Null if none is missing. */
  sampledSince: string | null;
}

interface PageRequest {
  /** Infinity for a list without --limit. */
  limit: number;
  after?: string | undefined;
}

interface FoundRows<Row> {
  rows: readonly Row[];
  stoppedAfter: string | null;
  /** Since when the records are a sample. Null or absent if none is missing. */
  sampledSince?: string | null;
}

/** Reads a page from the server. A search also returns the record after which it stopped; null if it read to the end. */
export type ReadPage<Row> = (request: PageRequest) => Promise<readonly Row[] | FoundRows<Row>>;

/** The flags that choose the pages to read. */
export interface PageFlags {
  /** Undefined only for a list without --limit, because the flag has a default. The server returns such a list in one response. */
  limit?: number;
  after?: string;
  all?: boolean;
}

/** Returns the id after which --after continues a list; null for a row without an id. */
function idOf(row: object | undefined): string | null {
  return row && 'id' in row && typeof row.id === 'string' ? row.id : null;
}

/** Reads one page, and finds the record after which the next page begins. */
async function readOnePage<Row extends object>(
  read: ReadPage<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const response = await read(request);
  const {
    rows,
    stoppedAfter,
    sampledSince = null,
  }: FoundRows<Row> = 'rows' in response ? response : { rows: response, stoppedAfter: null };
  // After a full page there may be another one. After a shorter page there is none, unless a search has stopped.
  if (rows.length >= request.limit) return { rows, next: idOf(rows.at(-1)), isStopped: false, sampledSince };
  return { rows, next: stoppedAfter, isStopped: stoppedAfter !== null, sampledSince };
}

/** Reads all pages if `all` is set, else one page. A list without --limit has only one page, however many rows it has. */
export async function* readPages<Row extends object>(
  read: ReadPage<Row>,
  { limit = Number.POSITIVE_INFINITY, after, all }: PageFlags,
): AsyncGenerator<Page<Row>> {
  const limitPerPage = all ? Math.max(limit, mostPerPage) : limit;
  let afterId = after;
  for (;;) {
    const page = await readOnePage(read, { limit: limitPerPage, after: afterId });
    yield page;
    if (!all || page.next === null) return;
    afterId = page.next;
  }
}

interface Conditions<Row, Shown> {
  where: readonly string[];
  columns: readonly string[];
  show: (row: Row) => Shown;
}

/** Cuts rows to a limit. Keeps all rows if they have no ids, because --after could not show the rows behind the cut. */
function cutToLimit<Row extends object>(rows: readonly Row[], limit: number): readonly Row[] {
  const cut = rows.slice(0, limit);
  return idOf(cut.at(-1)) === null ? rows : cut;
}

/** After so many records without enough matches, a list with --where stops. A search of the server reads as many. */
const mostSearched = 20_000;

/**
 * Returns a reader of the rows that meet the conditions. It reads whole pages of the list until it has found enough rows, until
 * the list ends, or until it has searched the most records. Then `stoppedAfter` says where to go on.
 */
export function withConditions<Row extends object, Shown extends object>(
  read: ReadPage<Row>,
  { where, columns, show }: Conditions<Row, Shown>,
): ReadPage<Row> {
  const isWanted = createFilter(where, columns);
  return async ({ limit, after }) => {
    const found: Row[] = [];
    let searched = 0;
    let afterId = after;
    for (;;) {
      const page = await readOnePage(read, { limit: Math.max(limit, mostPerPage), after: afterId });
      searched += page.rows.length;
      found.push(...page.rows.filter((row) => isWanted(show(row))));
      const { next, isStopped, sampledSince } = page;
      if (found.length >= limit) return { rows: cutToLimit(found, limit), stoppedAfter: null, sampledSince };
      if (next === null || isStopped || searched >= mostSearched)
        return { rows: found, stoppedAfter: next, sampledSince };
      afterId = next;
    }
  };
}

/** Reads all rows of a list. */
export async function readAll<Row extends object>(page: ReadPage<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const { rows } of readPages(page, { all: true, limit: mostPerPage })) all.push(...rows);
  return all;
}
