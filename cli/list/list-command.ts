import type { Command } from '@oclif/core';
import { toFailure, usageError } from '../errors/failure.ts';
import { pageFlags, requestedColumns } from '../flags/flags.ts';
import { renderCsvRows } from '../output/csv.ts';
import { formatShare } from '../output/format.ts';
import { renderListing } from '../output/listing.ts';
import { AdminCommand } from '../program/base-command.ts';
import { countAllRows, tallyRows } from './counts.ts';
import { requireRecords } from './known-records.ts';
import { applyConditions, type List, type Source } from './list.ts';
import { type Page, type PageFlags, type ReadPage, readPages } from './pages.ts';
import type { Group } from './tally.ts';
import {
  describeCounted,
  describeDeleted,
  describeFilters,
  describeShown,
  describeTotal,
  type SampledTotal,
} from './totals.ts';
import { conditionColumns, knownColumns } from './where.ts';

interface ListFlags extends PageFlags {
  count?: boolean;
  where?: string[];
  by?: string;
  columns?: string;
  csv?: boolean;
  since?: string;
  until?: string;
}

/** Returns the columns that have the same value in every row if a list is of one partner. They can be left out first. */
export const columnsSameFor = (partner: string | undefined): 'partnerName'[] =>
  partner ? ['partnerName'] : [];

/** A command that lists records. It can count them, read all pages, choose columns and write CSV. */
export abstract class ListCommand<T extends typeof Command> extends AdminCommand<T> {
  get #listFlags(): ListFlags {
    return this.flags as ListFlags;
  }

  /** Whether a flag is applied to the rows that the server returns, so that it needs more of them than --limit. */
  protected get needsAllRows(): boolean {
    const { count = false, by, where } = this.#listFlags;
    return count || by !== undefined || where !== undefined;
  }

  /** The --limit that the person gave. Undefined for the default one. */
  get #givenLimit(): number | undefined {
    return this.argv.some((arg) => arg.startsWith('--limit')) ? this.#listFlags.limit : undefined;
  }

  /** Shows a list. @returns the rows; with --count their number; with --by the number of rows with the same values */
  protected async showList<Row extends object, Shown extends object = Row>(
    list: List<Row, Shown>,
  ): Promise<readonly Row[] | SampledTotal | readonly Group[]> {
    this.#noteWhatIsDeleted(list.keptMs);
    const source = applyConditions({ ...list, page: this.#checkingColumns(list) }, this.#listFlags.where);
    if (this.#listFlags.by !== undefined) return this.#countBy(source, this.#listFlags.by);
    if (this.#listFlags.count) return this.#showTotal(source);
    return this.#showRows(source);
  }

  /**
   * Reads pages of a list. If the list has no rows, checks what rows check otherwise: the names of columns that the person gave,
   * and the ids of records.
   */
  #checkingColumns<Row extends object, Shown extends object>(list: List<Row, Shown>): ReadPage<Row> {
    const { where = [], by, columns } = this.#listFlags;
    const asked = [...conditionColumns(where), ...(by ?? '').split(','), ...(columns ?? '').split(',')];
    const named = asked.filter((name) => name.trim() !== '');
    return async (request) => {
      const response = await list.page(request);
      const { length } = 'rows' in response ? response.rows : response;
      if (length > 0 || request.after !== undefined) return response;
      if (named.length > 0)
        requestedColumns(named.join(','), [...new Set([...list.columns, ...(await list.fields())])]);
      await this.#requireNamedRecords();
      return response;
    };
  }

  /** Says so if the period of a list begins before the oldest record that is kept, because its counts are too low then. */
  #noteWhatIsDeleted(keptMs: number | undefined): void {
    const { since, until } = this.#listFlags;
    for (const sentence of describeDeleted(since ?? until, keptMs)) this.writeNotice(sentence);
  }

  /** Checks that the records exist that flags and arguments name. In `svc`, the partner is that of the login. */
  async #requireNamedRecords(): Promise<void> {
    const { partner, ...named } = Object.assign({}, this.args, this.flags) as Parameters<
      typeof requireRecords
    >[1];
    await requireRecords(() => this.api, this.program === 'svc' ? named : { ...named, partner });
  }

  async #showRows<Row extends object, Shown extends object>(
    source: Source<Row, Shown>,
  ): Promise<readonly Row[]> {
    const isJson = this.jsonEnabled();
    // CSV and pipes get each page when it is read. JSON is one array. A table needs all rows for the widths of its columns.
    const isStreamed = !isJson && (this.#listFlags.csv === true || !process.stdout.isTTY);
    const rows: Row[] = [];
    let shownCount = 0;
    let lastPage: Page<Row> | undefined;
    for await (const page of readPages(source.page, this.#listFlags)) {
      if (isStreamed) this.#writeRows(source, page.rows, { withHeadings: lastPage === undefined });
      else rows.push(...page.rows);
      shownCount += page.rows.length;
      lastPage = page;
    }
    if (!isStreamed && !isJson) this.#writeTable(source, rows);
    const { next = null, isStopped = false, sampledSince = null } = lastPage ?? {};
    // A program that reads JSON knows its own --limit, but not the default one, nor that a search stopped. It needs no count.
    const { count } = isJson ? {} : source;
    const isCutUnasked = next !== null && this.#givenLimit === undefined;
    if (!isJson || isStopped || isCutUnasked)
      this.writeNotice(
        await this.#describeSummary({ count }, { shown: shownCount, next, isStopped, sampledSince }),
      );
    if (shownCount === 0) this.#writeValues(source);
    return rows;
  }

  /** Says which values there are, after no record met the conditions of --where. */
  #writeValues({ describeValues }: Pick<Source<object, object>, 'describeValues'>): void {
    if (!this.jsonEnabled()) for (const sentence of describeValues()) this.writeNotice(sentence);
  }

  /** Returns the columns to show: those of --columns; otherwise those of the list and of the conditions of --where. */
  #chooseColumns<Row extends object, Shown extends object>(
    { columns: ofList }: List<Row, Shown>,
    rows: readonly Shown[],
  ) {
    const known = knownColumns(ofList, rows[0]);
    const columnsIn = (text: string) =>
      requestedColumns(text, known, { acceptUnknown: rows.length === 0 }) as (keyof Shown & string)[];
    const { columns: asked, where = [] } = this.#listFlags;
    if (asked !== undefined) return columnsIn(asked);
    const ofConditions = new Set(conditionColumns(where).flatMap(columnsIn));
    for (const column of ofList) ofConditions.delete(column);
    // The columns of conditions come second, because a narrow terminal leaves out the columns on the right.
    return ofList.toSpliced(1, 0, ...ofConditions);
  }

  /** Writes the rows of a page as CSV or as tab-separated lines, on the first page below the names of the columns. */
  #writeRows<Row extends object, Shown extends object>(
    source: Source<Row, Shown>,
    rows: readonly Row[],
    { withHeadings }: { withHeadings: boolean },
  ): void {
    const shown = rows.map(source.show);
    const columns = this.#chooseColumns(source, shown);
    const lines = this.#listFlags.csv
      ? renderCsvRows(columns, shown)
      : renderListing(shown, { columns, dropIfNarrow: [], width: undefined }).lines;
    for (const line of withHeadings ? lines : lines.slice(1)) this.log(line);
    this.#writeNotes(source, rows);
  }

  #writeTable<Row extends object, Shown extends object>(
    source: Source<Row, Shown>,
    rows: readonly Row[],
  ): void {
    const shown = rows.map(source.show);
    const columns = this.#chooseColumns(source, shown);
    // Columns that the person has chosen are equally important. If not all fit, the last ones are left out.
    const dropIfNarrow = this.#listFlags.columns === undefined ? source.dropIfNarrow : [];
    if (shown.length > 0) this.showTable(shown, columns, { dropIfNarrow });
    this.#writeNotes(source, rows);
  }

  #writeNotes<Row extends object>({ notes }: Pick<List<Row, object>, 'notes'>, rows: readonly Row[]): void {
    for (const sentence of notes?.(rows) ?? []) this.writeNoticeOnce(sentence);
  }

  async #describeSummary<Row extends object>(
    { count }: { count: List<Row, object>['count'] | undefined },
    { shown, next, isStopped, sampledSince }: Omit<Page<Row>, 'rows'> & { shown: number },
  ): Promise<string> {
    const { after } = this.#listFlags;
    const isWholeList = next === null && after === undefined;
    // The number of all records of a whole list is known without asking the server.
    const total = isWholeList
      ? { total: shown, exact: true, sampledSince }
      : await this.#countIfPossible(count);
    return describeShown({
      shown,
      total,
      after,
      next,
      isStopped,
      sampledSince,
      filters: this.#describeFilters(),
    });
  }

  /** Returns the flags that filter the list, as they were given: all flags of the command except the ones named here. */
  #describeFilters(): string {
    const noFilters = new Set([
      ...Object.keys(pageFlags).filter((name) => name !== 'where'),
      // These two change what is noted in the audit log and how rows are printed.
      ...['reason', 'json'],
      // Members cannot choose the partner, so `svc` does not show this flag.
      ...(this.program === 'svc' ? ['partner'] : []),
      ...Object.keys(AdminCommand.baseFlags),
    ]);
    const flags = Object.entries(this.flags as Record<string, unknown>);
    return describeFilters(flags.filter(([name, value]) => !noFilters.has(name) && value !== undefined));
  }

  /** Returns the number of records. Returns undefined if the list has no count, or if the server is too old to count. */
  async #countIfPossible(
    count: (() => Promise<SampledTotal>) | undefined,
  ): Promise<SampledTotal | undefined> {
    try {
      return await count?.();
    } catch (error) {
      if (toFailure(error, this.connectionSource).code !== 'route_not_found') throw error;
      return undefined;
    }
  }

  async #showTotal<Row extends object>({
    count,
    page,
    describeValues,
  }: Pick<Source<Row, object>, 'count' | 'page' | 'describeValues'>): Promise<SampledTotal> {
    if (this.#listFlags.csv || this.#listFlags.columns !== undefined)
      throw usageError('--count prints a number: leave out --csv and --columns');
    const total = (await this.#countIfPossible(count)) ?? (await countAllRows(page, this.#listFlags));
    if (total.total === 0) await this.#requireNamedRecords();
    this.log(describeTotal(total));
    if (total.total === 0) this.#writeValues({ describeValues });
    return total;
  }

  /** Shows how many records have the same values. */
  async #countBy<Row extends object, Shown extends object>(
    source: Source<Row, Shown>,
    by: string,
  ): Promise<readonly Group[]> {
    const { tally, sampledSince } = await tallyRows(source, by, this.#listFlags);
    const allGroups = tally.groups();
    const groups = allGroups
      .slice(0, this.#givenLimit)
      .map((group): Group => ({ ...group, ...(sampledSince && { sampledSince }) }));
    if (this.jsonEnabled()) return groups;
    const columns = [...tally.columns, 'count', 'share'];
    if (this.#listFlags.csv) for (const line of renderCsvRows(columns, groups)) this.log(line);
    else if (groups.length > 0)
      this.showTable(
        groups.map((group): Record<string, unknown> => ({ ...group, share: formatShare(group.share) })),
        columns,
      );
    this.writeNotice(
      describeCounted({
        counted: tally.total(),
        hasDays: tally.hasDays(),
        sampledSince,
        groups: allGroups.length,
        shown: groups.length,
        filters: this.#describeFilters(),
      }),
    );
    if (allGroups.length === 0) this.#writeValues(source);
    return groups;
  }
}
