import { given } from '../flags/flags.ts';
import { createFilter } from './where.ts';

/** The most records that the server returns in one page. */
const mostAtOnce = 500;

/** A page as the list shows it. */
export interface Page<Row> {
  rows: readonly Row[];
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the server stopped because it had read the most records that one search may read. */
  stopped: boolean;
}

interface PageRequest {
  limit: number;
  after?: string;
}

/** Reads a page from the server. A search also returns the record at which it stopped. */
export type ReadPage<Row> = (
  request: PageRequest,
) => Promise<readonly Row[] | { rows: readonly Row[]; stoppedAfter: string | null }>;

/** The flags that choose the pages to read. */
interface PageFlags {
  limit?: number;
  after?: string;
  all?: boolean;
}

function idOf(row: object | undefined): string | null {
  return row && 'id' in row && typeof row.id === 'string' ? row.id : null;
}

/** Reads one page, and finds out where the next page begins. A list without --limit has only one page. */
async function readOne<Row extends object>(
  read: ReadPage<Row>,
  { limit, after }: { limit: number; after: string | undefined },
  isPaged: boolean,
): Promise<Page<Row>> {
  const response = await read({ limit, ...given({ after }) });
  const { rows, stoppedAfter } = 'rows' in response ? response : { rows: response, stoppedAfter: null };
  if (isPaged && rows.length >= limit) return { rows, next: idOf(rows.at(-1)), stopped: false };
  return { rows, next: stoppedAfter, stopped: stoppedAfter !== null };
}

/** Reads all pages if `all` is set, else one page. */
export async function* readPages<Row extends object>(
  read: ReadPage<Row>,
  { limit, after, all }: PageFlags,
): AsyncGenerator<Page<Row>> {
  const size = all ? mostAtOnce : (limit ?? mostAtOnce);
  let from = after;
  for (;;) {
    const page = await readOne(read, { limit: size, after: from }, limit !== undefined);
    yield page;
    if (!all || page.next === null) return;
    from = page.next;
  }
}

interface Conditions<Row, Shown> {
  /** The conditions of --where. */
  where: readonly string[];
  columns: readonly string[];
  show: (row: Row) => Shown;
  /** Whether the list has a --limit. */
  isPaged: boolean;
}

/** Returns a reader of the rows that meet the conditions. It reads pages until enough rows are found or the list ends. */
export function withConditions<Row extends object, Shown extends object>(
  read: ReadPage<Row>,
  { where, columns, show, isPaged }: Conditions<Row, Shown>,
): ReadPage<Row> {
  const isWanted = createFilter(where, columns);
  return async ({ limit, after }) => {
    const found: Row[] = [];
    let from = after;
    for (;;) {
      const { rows, next } = await readOne(read, { limit: mostAtOnce, after: from }, isPaged);
      found.push(...rows.filter((row) => isWanted(show(row))));
      if (next === null || found.length >= limit) return found.slice(0, limit);
      from = next;
    }
  };
}
