import { Args, Flags } from '@oclif/core';
import { renderStatement } from '../../../contracts/admin/statement-csv.ts';
import type { AdminApi } from '../../connection/client.ts';
import { formatCents } from '../../flags/amounts.ts';
import { mode, moment, requestedColumns, requireFromBeforeTo } from '../../flags/flags.ts';
import { createTally, type Group } from '../../list/tally.ts';
import { renderCsvRows } from '../../output/csv.ts';
import { AdminCommand } from '../../program/base-command.ts';

type Statement = Awaited<ReturnType<AdminApi['wallets']['statement']['query']>>;

export default class WalletsStatement extends AdminCommand<typeof WalletsStatement> {
  static override summary = 'List the entries of a wallet, with opening and closing balance.';
  static override description = 'A charge keeps its client and its session for 30 days.';
  static override examples = [
    '<%= config.bin %> wallets statement ptr_… --mode live --from 2026-06-01 --to 2026-07-01 --by kind,clientId',
    '<%= config.bin %> wallets statement ptr_… --mode live --from 2026-06-01 --to 2026-07-01 --csv',
    '<%= config.bin %> wallets statement ptr_… --mode live --from 2026-06-01 --to 2026-07-01 --signed > june.jws',
  ];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode,
    from: moment({ description: 'entries since this time' }),
    to: moment({ description: 'entries before this time' }),
    csv: Flags.boolean({
      description: 'as CSV, amounts as decimal numbers, times in UTC',
      exclusive: ['signed'],
    }),
    by: Flags.string({
      description:
        'how many entries, and their sum, for each value of these columns; a time counts by its day (UTC)',
      helpValue: 'kind,clientId',
      exclusive: ['signed'],
    }),
    signed: Flags.boolean({
      description: 'as a JWS under the published keys, for `wallets verify`; at most 10,000 entries',
    }),
  };

  async run() {
    if (this.flags.signed) return this.sign();
    const statement = await this.readPages();
    const { opening, closing, currency, entries } = statement;
    if (this.flags.by !== undefined) return this.showSums(entries, this.flags.by);
    if (this.flags.csv) for (const line of renderStatement(statement)) this.log(line);
    else {
      this.log(`Opening  ${formatCents(opening)} ${currency}`);
      this.showTable(entries, ['seq', 'at', 'id', 'kind', 'amount', 'balanceAfter', 'reference', 'reason'], {
        dropIfNarrow: ['reason', 'reference', 'seq', 'id'],
      });
      this.log(`Closing  ${formatCents(closing)} ${currency}`);
      await this.logPresentBalance();
    }
    return statement;
  }

  private showSums(entries: Statement['entries'], by: string): readonly Omit<Group, 'share'>[] {
    const known = Object.keys(entries[0] ?? {});
    // Only an entry shows all columns, so without entries every name is accepted.
    const columns = requestedColumns(by, known, { acceptUnknown: entries.length === 0 });
    const tally = createTally(columns, 'amount');
    for (const entry of entries) tally.add(entry);
    // The share of entries would be read as a share of the amount.
    const groups = tally.groups().map(({ share: _share, ...group }) => group);
    const shape = [...columns, 'count', 'amount'];
    if (this.flags.csv) for (const line of renderCsvRows(shape, groups)) this.log(line);
    else this.showTable(groups, shape);
    return groups;
  }

  /** Logs the present balance, and the days until it is spent. They do not depend on the period of the statement. */
  private async logPresentBalance(): Promise<void> {
    const wallet = { partnerId: this.args.partner, mode: this.flags.mode };
    const { balance, daysLeft, currency } = await this.api.wallets.show.query(wallet);
    const days = daysLeft === null ? 'nothing is spent' : `${daysLeft} days left`;
    this.log(`Now      ${formatCents(balance)} ${currency}, ${days}`);
  }

  /** Returns the wallet and the period of the statement. @throws CommandError if the period ends before it begins */
  private readQuery() {
    const { from, to } = this.flags;
    requireFromBeforeTo(from, to);
    return { partnerId: this.args.partner, mode: this.flags.mode, from, to };
  }

  private async sign(): Promise<{ jws: string }> {
    const signed = await this.api.wallets.signedStatement.query(this.readQuery());
    this.log(signed.jws);
    return signed;
  }

  /**
   * Reads the statement page by page. `untilSeq` is the last entry at the time of the first page. Later pages exclude entries
   * after it, so that the closing balance is right even if the wallet is charged while the pages are read.
   */
  private async readPages(): Promise<Omit<Statement, 'untilSeq' | 'more'>> {
    const query = this.readQuery();
    const { untilSeq, more, ...statement } = await this.api.wallets.statement.query(query);
    for (let hasMore = more; hasMore; ) {
      const afterSeq = statement.entries.at(-1)?.seq ?? 0;
      this.writeNotice(`${statement.entries.length} entries read…`);
      const page = await this.api.wallets.statement.query({ ...query, afterSeq, untilSeq });
      statement.entries.push(...page.entries);
      statement.closing = page.closing;
      hasMore = page.more;
    }
    return statement;
  }
}
