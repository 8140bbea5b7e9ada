import { requestedColumns } from '../flags/flags.ts';
import type { Source } from './list.ts';
import { type PageFlags, type ReadPage, readPages } from './pages.ts';
import { createTally, type Tally } from './tally.ts';
import type { SampledTotal } from './totals.ts';
import { knownColumns } from './where.ts';

/** Counts the rows of all pages. */
export async function countAllRows<Row extends object>(
  page: ReadPage<Row>,
  flags: PageFlags,
): Promise<SampledTotal> {
  let total = 0;
  let sampledSince: string | null = null;
  for await (const read of readPages(page, { ...flags, all: true })) {
    total += read.rows.length;
    sampledSince ??= read.sampledSince;
  }
  return { total, exact: true, ...(sampledSince && { sampledSince }) };
}

/** Counts the records of all pages by their values, because a part of the list would give wrong counts. */
export async function tallyRows<Row extends object, Shown extends object>(
  source: Source<Row, Shown>,
  by: string,
  flags: PageFlags,
): Promise<{ tally: Tally; sampledSince: string | null }> {
  let tally: Tally | undefined;
  let sampled: string | null = null;
  for await (const { rows, sampledSince } of readPages(source.page, { ...flags, all: true })) {
    sampled ??= sampledSince;
    for (const row of rows) {
      const shown = source.show(row);
      // The columns are checked with the first row, because only a row shows all columns of a list.
      tally ??= createTally(requestedColumns(by, knownColumns(source.columns, shown)));
      tally.add(shown, source.weigh?.(row));
    }
  }
  tally ??= createTally(requestedColumns(by, source.columns, { acceptUnknown: true }));
  return { tally, sampledSince: sampled };
}
