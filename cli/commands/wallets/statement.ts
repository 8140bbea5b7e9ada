import * as Flags from '@oclif/core/flags';
import { renderStatement } from '../../../contracts/admin/statement-csv.ts';
import { nounFor } from '../../careful/previews.ts';
import type { AdminApi } from '../../connection/client.ts';
import { formatCents } from '../../flags/amounts.ts';
import { mode, requestedColumns } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { describePeriod, periodFlags, readPeriod } from '../../flags/period.ts';
import { requireZone, timeInZone } from '../../flags/zones.ts';
import { createTally, type Group } from '../../list/tally.ts';
import { renderCsvRows } from '../../output/csv.ts';
import { AdminCommand } from '../../program/base-command.ts';

type Statement = Awaited<ReturnType<AdminApi['wallets']['statement']['query']>>;

/** A wallet and a period, whose ends are RFC 3339 in UTC. */
interface Query {
  partnerId: string;
  mode: 'test' | 'live';
  from: string | undefined;
  to: string | undefined;
}

export default class WalletsStatement extends AdminCommand<typeof WalletsStatement> {
  static override summary = 'List the entries of a wallet, with opening and closing balance.';
  static override description = 'A charge keeps its client and its session for 30 days.';
  static override examples = [
    '<%= config.bin %> wallets statement ptr_… --mode live --from 2026-06-01 --to 2026-07-01 --by kind,clientId',
    '<%= config.bin %> wallets statement ptr_… --mode live --month 2026-06 --csv',
    '<%= config.bin %> wallets statement ptr_… --mode live --month 2026-06 --signed > june.jws',
    '<%= config.bin %> wallets statement ptr_… --mode live --month 2026-06 --timezone Europe/Berlin',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode,
    ...periodFlags,
    timezone: Flags.string({
      description: 'time zone of the dates that are typed and printed',
      default: 'UTC',
      helpValue: 'Europe/Berlin',
    }),
    csv: Flags.boolean({
      description: 'as CSV, amounts as decimal numbers, times in UTC',
      exclusive: ['json', 'signed'],
    }),
    by: Flags.string({
      description:
        'how many entries, and their sum, for each value of these columns; a time counts by its day',
      helpValue: 'kind,clientId',
      exclusive: ['signed'],
    }),
    signed: Flags.boolean({
      description: 'as a JWS under the published keys, for `wallets verify`; at most 10,000 entries',
    }),
  };

  async run() {
    const zone = requireZone(this.flags.timezone);
    const query = this.readQuery(zone);
    if (this.flags.signed) return this.sign(query, zone);
    const statement = await this.readPages(query);
    const { opening, closing, currency, entries } = statement;
    const inZone = entries.map(({ at, ...entry }) => ({ ...entry, at: timeInZone(at, zone) }));
    if (this.flags.by !== undefined)
      return this.showSums(entries, { by: this.flags.by, zone, period: describePeriod(query, zone) });
    if (this.flags.csv) for (const line of renderStatement(statement)) this.log(line);
    else {
      this.log(`Period   ${describePeriod(query, zone)}`);
      this.log(`Opening  ${formatCents(opening)} ${currency}`);
      this.showTable(inZone, ['seq', 'at', 'id', 'kind', 'amount', 'balanceAfter', 'reference', 'reason'], {
        dropIfNarrow: ['reason', 'reference', 'seq', 'id'],
      });
      this.log(`Closing  ${formatCents(closing)} ${currency}`);
      await this.logPresentBalance();
    }
    const { from = null, to = null } = query;
    return { ...statement, from, to, timezone: zone };
  }

  /** Shows the number and the sum of the entries of each group. Days are those of the zone. */
  private async showSums(
    entries: Statement['entries'],
    { by, zone, period }: { by: string; zone: string; period: string },
  ): Promise<readonly Omit<Group, 'share'>[]> {
    const { StatementEntry } = await import('../../../contracts/admin/wallets.ts');
    const columns = requestedColumns(by, Object.keys(StatementEntry.shape));
    // Where amounts are the groups, their sums need another name.
    const sum = columns.includes('amount') ? 'sum' : 'amount';
    const tally = createTally(columns, sum);
    for (const entry of entries) {
      const [day] = timeInZone(entry.at, zone).split(' ');
      tally.add({ ...entry, at: day, sum: entry.amount });
    }
    // The share of entries would be read as a share of the amount.
    const groups = tally.groups().map(({ share: _share, ...group }) => group);
    const shape = [...columns, 'count', sum];
    if (this.flags.csv) for (const line of renderCsvRows(shape, groups)) this.log(line);
    else if (groups.length > 0) this.showTable(groups, shape);
    if (!this.jsonEnabled())
      this.writeNotice(
        `${entries.length === 0 ? 'Nothing found' : `${entries.length} ${nounFor(entries.length, 'entry')}`}, ${period}.`,
      );
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
  private readQuery(zone: string): Query {
    const { mode: walletMode, ...flags } = this.flags;
    return { partnerId: this.args.partner, mode: walletMode, ...readPeriod(flags, zone) };
  }

  private async sign(query: Query, timezone: string): Promise<{ jws: string }> {
    const signed = await this.api.wallets.signedStatement.query({ ...query, timezone });
    this.log(signed.jws);
    return signed;
  }

  /**
   * Reads the statement page by page. `untilSeq` is the last entry at the time of the first page. Later pages exclude entries
   * after it, so that the closing balance is right even if the wallet is charged while the pages are read.
   */
  private async readPages(query: Query): Promise<Omit<Statement, 'untilSeq' | 'more'>> {
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
