import { Flags } from '@oclif/core';
import type { RevenueRow } from '../../contracts/admin/revenue.ts';
import { formatCents } from '../flags/amounts.ts';
import { modeFilter, requestedColumns } from '../flags/flags.ts';
import { idFlag } from '../flags/ids.ts';
import { describePeriod, periodFlags, readPeriod } from '../flags/period.ts';
import { createTally } from '../list/tally.ts';
import { describeOnly } from '../list/totals.ts';
import { renderCsvRows } from '../output/csv.ts';
import { AdminCommand } from '../program/base-command.ts';

/** The columns by which the sums can be grouped. */
const groupable: readonly (keyof RevenueRow)[] = ['month', 'mode', 'kind', 'partnerId', 'partnerName'];

const firstOfThisMonth = (): string => `${new Date().toISOString().slice(0, 'YYYY-MM'.length)}-01`;

export default class RevenueCommand extends AdminCommand<typeof RevenueCommand> {
  static override summary = 'Add up charges and refunds of all partners, by month, mode and kind.';
  static override description =
    'Months are those of UTC, and without a period the present one is shown. A refund is negative, and counts in its own month. Money of test mode is play money. Fundings and adjustments are no revenue.';
  static override examples = [
    '<%= config.bin %> revenue --month 2026-06 --mode live',
    '<%= config.bin %> revenue --from 2026-01-01 --mode live --by month,partnerName --csv',
  ];
  static override flags = {
    ...periodFlags,
    mode: modeFilter,
    partner: idFlag('partner')({ description: 'only of this partner' }),
    by: Flags.string({
      description: `columns to add up by: ${groupable.join(' ')}`,
      default: 'month,mode,kind',
    }),
    csv: Flags.boolean({ description: 'as CSV, amounts as decimal numbers', exclusive: ['json'] }),
  };

  async run() {
    const { by, csv, mode, partner } = this.flags;
    const columns = requestedColumns(by, groupable);
    const tally = createTally(columns, 'amount');
    const period = this.#readPeriod();
    for await (const row of this.#readRows(period)) tally.add(row, row.count);
    const groups = tally
      .groups()
      .map(({ share: _share, ...group }) => group)
      .toSorted((one, other) => (keyOf(one, columns) < keyOf(other, columns) ? -1 : 1));
    const shape = [...columns, 'count', 'amount'];
    if (csv) for (const line of renderCsvRows(shape, groups)) this.log(line);
    else if (groups.length > 0) this.showTable(groups, shape);
    if (!this.jsonEnabled()) {
      const sum = groups.reduce((total, { amount }) => total + Number(amount), 0);
      const result = groups.length === 0 ? 'No charge and no refund' : `${formatCents(sum)} USD in all`;
      this.writeNotice(`${result}, ${describePeriod(period, 'UTC')}${describeOnly({ mode, partner })}.`);
    }
    return groups;
  }

  /** Returns the given period, or the present month. */
  #readPeriod() {
    const { month, from, to } = this.flags;
    const isOpen = month === undefined && from === undefined;
    return readPeriod({ month, to, from: isOpen ? firstOfThisMonth() : from }, 'UTC');
  }

  /** Reads the wallets page by page, because the server adds up a limited number at once. */
  async *#readRows(period: ReturnType<typeof readPeriod>): AsyncGenerator<RevenueRow> {
    const { mode, partner } = this.flags;
    for (let after: string | null | undefined; after !== null; ) {
      const { rows, stoppedAfter } = await this.api.revenue.show.query({
        from: period.from ?? '',
        to: period.to,
        mode,
        partnerId: partner,
        after,
      });
      yield* rows;
      after = stoppedAfter;
    }
  }
}

/** The values of a group, by which groups are sorted. */
const keyOf = (group: Readonly<Record<string, unknown>>, columns: readonly string[]): string =>
  columns.map((name) => group[name]).join(' ');
