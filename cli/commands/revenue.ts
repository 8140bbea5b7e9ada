import * as Flags from '@oclif/core/flags';
import type { RevenueRow } from '../../contracts/admin/revenue.ts';
import { usageError } from '../errors/failure.ts';
import { formatCents } from '../flags/amounts.ts';
import { modeFilter, requestedColumns } from '../flags/flags.ts';
import { idFlag } from '../flags/ids.ts';
import { describePeriod, periodFlags, readPeriod } from '../flags/period.ts';
import { createTally, type Tally } from '../list/tally.ts';
import { describeOnly } from '../list/totals.ts';
import { renderCsvRows } from '../output/csv.ts';
import { AdminCommand } from '../program/base-command.ts';

/** The columns by which the sums can be grouped. */
const groupable: readonly (keyof RevenueRow)[] = ['month', 'mode', 'kind', 'partnerId', 'partnerName'];

const firstOfThisMonth = (): string => `${new Date().toISOString().slice(0, 'YYYY-MM'.length)}-01`;

export default class RevenueCommand extends AdminCommand<typeof RevenueCommand> {
  static override summary = 'Add up charges and refunds of all partners, by month, mode and kind.';
  static override description =
    'Months are those of UTC, and without a period the present one is shown. A refund is negative, and counts in its own month. Money of test mode is play money. Fundings and adjustments are no revenue. With --compare, `amountBefore` is of the span of the same length before. `change` is the amount divided by it. What grew most comes first.';
  static override examples = [
    '<%= config.bin %> revenue --month 2026-06 --mode live',
    '<%= config.bin %> revenue --from 2026-01-01 --mode live --by month,partnerName --csv',
    '<%= config.bin %> revenue --from 7d --mode live --by partnerName --compare',
  ];
  static override flags = {
    ...periodFlags,
    mode: modeFilter,
    partner: idFlag('partner')({ description: 'only of this partner' }),
    by: Flags.string({
      description: `columns to add up by: ${groupable.join(' ')}`,
      default: async ({ flags }) => (flags['compare'] ? 'mode,partnerName' : 'month,mode,kind'),
      defaultHelp: async () => 'month,mode,kind; with --compare mode,partnerName',
    }),
    compare: Flags.boolean({ description: 'compare with the span of the same length before' }),
    csv: Flags.boolean({ description: 'as CSV, amounts as decimal numbers', exclusive: ['json'] }),
  };

  async run() {
    const { by, compare, csv, mode, partner } = this.flags;
    const columns = requestedColumns(by, groupable);
    if (compare && columns.includes('month'))
      throw usageError('Months cannot be compared with --compare', 'Give other columns with --by.');
    const period = this.#readPeriod();
    const before = compare ? spanBefore(period) : undefined;
    const groups: Sums[] = before
      ? await this.#compare(columns, period, before)
      : await this.#addUp(columns, period);
    const shape = [...columns, 'count', 'amount', ...(compare ? ['amountBefore', 'change'] : [])];
    if (csv) for (const line of renderCsvRows(shape, groups)) this.log(line);
    else if (groups.length > 0) this.showTable(groups, shape);
    if (!this.jsonEnabled()) {
      const sumOf = (name: string) =>
        formatCents(groups.reduce((total, group) => total + Number(group[name]), 0));
      const isEmpty = groups.length === 0;
      const result = isEmpty ? 'No charge and no refund' : `${sumOf('amount')} USD in all`;
      // The span before has its own times: of a period that has not ended, only what has passed is compared.
      const compared = before
        ? `, ${isEmpty ? 'nor' : sumOf('amountBefore')} in the span before, ${describePeriod(before, 'UTC')}`
        : '';
      this.writeNotice(
        `${result}, ${describePeriod(period, 'UTC')}${compared}${describeOnly({ mode, partner })}.`,
      );
    }
    return groups;
  }

  async #addUp(columns: readonly string[], period: Period) {
    const tally = createTally(columns, 'amount');
    for await (const row of this.#readRows(period)) tally.add(row, row.count);
    return withoutShares(tally).toSorted((one, other) =>
      keyOf(one, columns) < keyOf(other, columns) ? -1 : 1,
    );
  }

  /** Adds up a period, and the span before it. What grew most comes first. */
  async #compare(columns: readonly string[], period: Period, before: Period) {
    // One tally of both spans tells partners of one name apart, whichever span has them.
    const tally = createTally(columns, 'amount', 'amountBefore');
    for await (const row of this.#readRows(period)) tally.add({ ...row, amountBefore: 0 }, row.count);
    for await (const row of this.#readRows(before))
      tally.add({ ...row, amount: 0, amountBefore: row.amount }, 0);
    const grownBy = (group: Sums) => Number(group['amount']) - Number(group['amountBefore']);
    return withoutShares(tally)
      .map((group) => ({ ...group, change: ratioOf(group['amount'], group['amountBefore']) }))
      .toSorted((one, other) => grownBy(other) - grownBy(one));
  }

  /** Returns the given period, or the present month. */
  #readPeriod(): Period {
    const { month, from: typed, to } = this.flags;
    const isOpen = month === undefined && typed === undefined;
    const { from = '', ...period } = readPeriod(
      { month, to, from: isOpen ? firstOfThisMonth() : typed },
      'UTC',
    );
    return { ...period, from };
  }

  /** Reads the wallets page by page, because the server adds up a limited number at once. */
  async *#readRows({ from, to }: Period): AsyncGenerator<RevenueRow> {
    const { mode, partner } = this.flags;
    for (let after: string | null | undefined; after !== null; ) {
      const { rows, stoppedAfter } = await this.api.revenue.show.query({
        from,
        to,
        mode,
        partnerId: partner,
        after,
      });
      yield* rows;
      after = stoppedAfter;
    }
  }
}

type Period = ReturnType<typeof readPeriod> & { from: string };

/** Returns the span before a period that is as long as what has passed of it. @throws CommandError if it has not begun */
function spanBefore({ from, to }: Period): Period {
  const begin = Date.parse(from);
  const end = Math.min(Date.now(), Date.parse(to ?? '9999-12-31'));
  if (begin >= end) throw usageError('A span that has not begun cannot be compared');
  return { from: new Date(2 * begin - end).toISOString(), to: from };
}
type Sums = Readonly<Record<string, unknown>>;

const withoutShares = (tally: Tally): Sums[] => tally.groups().map(({ share: _share, ...group }) => group);

/** Returns an amount divided by the one before, with two decimals. Null if that was not positive. */
const ratioOf = (amount: unknown, before: unknown): number | null =>
  Number(before) > 0 ? Math.round((Number(amount) / Number(before)) * 100) / 100 : null;

/** The values of a group, by which groups are sorted. */
const keyOf = (group: Sums, columns: readonly string[]): string =>
  columns.map((name) => group[name]).join(' ');
