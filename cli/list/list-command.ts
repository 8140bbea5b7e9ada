import type { Command } from '@oclif/core';
import type { Total } from '../../contracts/admin/references.ts';
import { toFailure, usageError } from '../errors/failure.ts';
import { pageFlags, requestedColumns } from '../flags/flags.ts';
import { renderCsvRows } from '../output/csv.ts';
import { percent } from '../output/format.ts';
import { renderListing } from '../output/listing.ts';
import { AdminCommand } from '../program/base-command.ts';
import { createTally, type Group } from './tally.ts';
import { describeCounted, describeFilters, describeShown, describeTotal } from './totals.ts';
import { conditionColumns, createFilter } from './where.ts';

/** The most records that the server returns in one page. */
const mostAtOnce = 500;

interface Page {
  limit: number;
  after?: string;
}

type Found<Row> = readonly Row[] | { rows: readonly Row[]; stoppedAfter: string | null };

/** A list: the source of its rows, and how they are shown. */
interface List<Row extends object, Shown extends object> {
  /** Reads the rows of one page. A list without pages returns all rows. */
  page: (page: Page) => Promise<Found<Row>>;
  /** Counts the records. Without it, --count reads all pages. */
  count?: () => Promise<Total>;
  columns: readonly (keyof Shown & string)[];
  /** Columns that are left out first if the terminal is narrow. */
  drop?: readonly (keyof Shown & string)[];
  /** Converts a row for tables. Without it, rows are shown unchanged. */
  show?: (row: Row) => Shown;
  /** Returns the number of records that a row stands for. Without it, one. */
  weigh?: (row: Row) => number;
  /** Returns sentences about the rows, which are shown below the table. */
  notes?: (rows: readonly Row[]) => readonly string[];
}

interface Read<Row> {
  rows: readonly Row[];
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the server stopped because it had read the most records that one search may read. */
  stopped: boolean;
}

interface ListFlags {
  limit?: number;
  after?: string;
  all?: boolean;
  count?: boolean;
  where?: string[];
  by?: string;
  columns?: string;
  csv?: boolean;
}

const idOf = (row: object | undefined): string | null =>
  row && 'id' in row && typeof row.id === 'string' ? row.id : null;

/** Reads pages until enough rows meet the conditions, or the list has ended. */
function narrowed<Row extends object, Shown extends object>(
  { page, columns, show }: List<Row, Shown>,
  { where = [], limit }: ListFlags,
): List<Row, object>['page'] {
  if (where.length === 0) return page;
  const isWanted = createFilter(where, columns);
  return async ({ limit: most, after }) => {
    const kept: Row[] = [];
    for (let from = after; ; ) {
      const found = await page({ limit: mostAtOnce, ...(from === undefined ? {} : { after: from }) });
      const { rows, stoppedAfter } = 'rows' in found ? found : { rows: found, stoppedAfter: null };
      kept.push(...rows.filter((row) => isWanted(show ? show(row) : row)));
      const isFull = limit !== undefined && rows.length >= mostAtOnce;
      const next = isFull ? idOf(rows.at(-1)) : stoppedAfter;
      if (next === null || kept.length >= most) return kept.slice(0, most);
      from = next;
    }
  };
}

/** Reads all pages if `all` is set, else one page. */
async function* pagesOf<Row extends object>(
  read: List<Row, object>['page'],
  { limit, after, all }: ListFlags,
): AsyncGenerator<Read<Row>> {
  const size = all ? mostAtOnce : (limit ?? mostAtOnce);
  for (let from = after; ; ) {
    const found = await read({ limit: size, ...(from === undefined ? {} : { after: from }) });
    const { rows, stoppedAfter } = 'rows' in found ? found : { rows: found, stoppedAfter: null };
    // A list without --limit has no pages.
    const isFull = limit !== undefined && rows.length >= size;
    const next = isFull ? idOf(rows.at(-1)) : stoppedAfter;
    yield { rows, next, stopped: !isFull && next !== null };
    if (!all || next === null) return;
    from = next;
  }
}

/** Returns the columns that are the same in each row of one partner. They are left out first if the terminal is narrow. */
export const sameForOne = (partner: string | undefined): 'partnerName'[] => (partner ? ['partnerName'] : []);

/** A command that lists records. It can count them, read all pages, choose columns and write CSV. */
export abstract class ListCommand<T extends typeof Command> extends AdminCommand<T> {
  /** Sentences about rows that were shown. Each is shown once, however many pages there are. */
  readonly #noted = new Set<string>();

  get #given(): ListFlags {
    return this.flags as ListFlags;
  }

  /** Shows a list. @returns the rows; with --count their number; with --by the number of rows with the same values */
  protected async list<Row extends object, Shown extends object = Row>({
    count,
    ...listed
  }: List<Row, Shown>): Promise<readonly Row[] | Total | readonly Group[]> {
    // The server counts without the conditions.
    const source: List<Row, Shown> = {
      ...listed,
      page: narrowed(listed, this.#given),
      ...(count && this.#given.where === undefined ? { count } : {}),
    };
    if (this.#given.by !== undefined) return this.#countBy(source, this.#given.by);
    if (this.#given.count) return this.#reportTotal(await this.#count(source));
    const isStreamed = !this.jsonEnabled() && (this.#given.csv === true || !process.stdout.isTTY);
    const rows: Row[] = [];
    let shown = 0;
    let last: Read<Row> | undefined;
    for await (const page of pagesOf(source.page, this.#given)) {
      if (isStreamed) this.#stream(source, page.rows, last === undefined);
      else rows.push(...page.rows);
      if (isStreamed && !this.#given.csv) this.#note(source, page.rows);
      shown += page.rows.length;
      last = page;
    }
    if (this.jsonEnabled()) return rows;
    if (!isStreamed) this.#tabulate(source, rows);
    this.notice(await this.#summary(source, { shown, next: last?.next ?? null, stopped: !!last?.stopped }));
    return rows;
  }

  #shownRows<Row extends object, Shown extends object>(
    { show }: List<Row, Shown>,
    rows: readonly Row[],
  ): Shown[] {
    return rows.map((row) => (show ? show(row) : (row as unknown as Shown)));
  }

  #columns<Row extends object, Shown extends object>({ columns }: List<Row, Shown>, shown: readonly Shown[]) {
    const known = [...new Set([...columns, ...Object.keys(shown[0] ?? {})])];
    const named = (text: string) =>
      requestedColumns(text, known, shown.length > 0) as (keyof Shown & string)[];
    if (this.#given.columns !== undefined) return named(this.#given.columns);
    // The columns of the conditions are shown, even if the terminal is narrow.
    const conditional = conditionColumns(this.#given.where ?? []).flatMap(named);
    const added = conditional.filter((name) => !columns.includes(name));
    return [...new Set([...columns.slice(0, 1), ...added, ...columns])];
  }

  /** Writes CSV or tab-separated lines, with the names of the columns before the first page. */
  #stream<Row extends object, Shown extends object>(
    source: List<Row, Shown>,
    rows: readonly Row[],
    isFirst: boolean,
  ): void {
    const shown = this.#shownRows(source, rows);
    const columns = this.#columns(source, shown);
    const lines = this.#given.csv
      ? renderCsvRows(columns, shown)
      : renderListing(shown, { columns, drop: [], width: undefined }).lines;
    for (const line of isFirst ? lines : lines.slice(1)) this.log(line);
  }

  #tabulate<Row extends object, Shown extends object>(source: List<Row, Shown>, rows: readonly Row[]): void {
    const shown = this.#shownRows(source, rows);
    const columns = this.#columns(source, shown);
    if (shown.length > 0) this.many(shown, columns, this.#given.columns === undefined ? source.drop : []);
    this.#note(source, rows);
  }

  #note<Row extends object>({ notes }: Pick<List<Row, object>, 'notes'>, rows: readonly Row[]): void {
    for (const sentence of notes?.(rows) ?? []) {
      if (!this.#noted.has(sentence)) this.notice(sentence);
      this.#noted.add(sentence);
    }
  }

  async #summary<Row extends object>(
    { count }: Pick<List<Row, object>, 'count'>,
    { shown, next, stopped }: { shown: number; next: string | null; stopped: boolean },
  ): Promise<string> {
    const { after, all } = this.#given;
    const isWhole = next === null && after === undefined;
    const total = isWhole ? { total: shown, exact: true } : await this.#known(count);
    return describeShown({ shown, total, after, next, stopped, all, filters: this.#filters() });
  }

  /** Returns the flags that filter the list, as they were given. */
  #filters(): string {
    const others = new Set([
      ...Object.keys(pageFlags).filter((name) => name !== 'where'),
      'reason',
      'json',
      // Members cannot choose the partner, so `svc` does not show this flag.
      ...(this.program === 'svc' ? ['partner'] : []),
      ...Object.keys(AdminCommand.baseFlags),
    ]);
    const given = Object.entries(this.flags as Record<string, unknown>);
    return describeFilters(given.filter(([name, value]) => !others.has(name) && value !== undefined));
  }

  /** Returns the number of records. Undefined if the list has no count, or if the server is too old to count. */
  async #known(count: (() => Promise<Total>) | undefined): Promise<Total | undefined> {
    try {
      return await count?.();
    } catch (error) {
      if (toFailure(error, this.connectionSource).code !== 'route_not_found') throw error;
      return undefined;
    }
  }

  async #count<Row extends object>({
    count,
    page,
  }: Pick<List<Row, object>, 'count' | 'page'>): Promise<Total> {
    if (this.#given.csv || this.#given.columns !== undefined)
      throw usageError('--count prints a number: leave out --csv and --columns');
    const known = await this.#known(count);
    if (known) return known;
    let total = 0;
    for await (const { rows } of pagesOf(page, { ...this.#given, all: true })) total += rows.length;
    return { total, exact: true };
  }

  /** Counts the records by their values. Reads all pages, because a part of the list would give wrong counts. */
  async #countBy<Row extends object, Shown extends object>(
    source: List<Row, Shown>,
    by: string,
  ): Promise<readonly Group[]> {
    let tally: ReturnType<typeof createTally> | undefined;
    let columns: string[] = [];
    let counted = 0;
    for await (const { rows } of pagesOf(source.page, { ...this.#given, all: true })) {
      const shown = this.#shownRows(source, rows);
      const weights = rows.map((row) => source.weigh?.(row) ?? 1);
      if (!tally || counted === 0) {
        const known = new Set([...source.columns, ...Object.keys(shown[0] ?? {})]);
        columns = requestedColumns(by, [...known], shown.length > 0);
        tally = createTally(columns);
      }
      tally.add(shown, weights);
      counted += weights.reduce((sum, weight) => sum + weight, 0);
    }
    const groups = tally?.groups() ?? [];
    if (this.jsonEnabled()) return groups;
    const shape = [...columns, 'count', 'share'];
    if (this.#given.csv) for (const line of renderCsvRows(shape, groups)) this.log(line);
    else if (groups.length > 0)
      this.many(
        groups.map((group): Record<string, unknown> => ({ ...group, share: percent(group.share) })),
        shape,
        [],
      );
    this.notice(describeCounted({ counted, groups: groups.length, filters: this.#filters() }));
    return groups;
  }

  #reportTotal(total: Total): Total {
    this.log(describeTotal(total));
    return total;
  }
}
