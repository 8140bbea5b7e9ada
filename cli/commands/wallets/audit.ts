import { Args, Flags } from '@oclif/core';
import type { AdminApi } from '../../connection/client.ts';
import { exits } from '../../errors/failure.ts';
import { formatCents } from '../../flags/amounts.ts';
import { AdminCommand } from '../../program/base-command.ts';

type Report = Awaited<ReturnType<AdminApi['wallets']['audit']['query']>>[number];

const pageLength = 20;

const placeOf = ({ page, entry, seq }: Report['findings'][number]) =>
  [
    page === undefined ? '' : ` page ${page}`,
    entry ? ` entry ${entry}` : '',
    seq === undefined ? '' : ` seq ${seq}`,
  ].join('');

export default class WalletsAudit extends AdminCommand<typeof WalletsAudit> {
  static override summary = 'Verify the ledger of every wallet, page by page. Exit 5 if anything is wrong.';
  static override description =
    'Verifies the chain of pages from the first one: digests, balances, spend windows, grants. The service may run. Without a partner, all wallets are verified.';
  static override examples = [
    '<%= config.bin %> wallets audit',
    '<%= config.bin %> wallets audit ptr_…',
    '<%= config.bin %> wallets audit --since-checkpoint',
  ];
  static override args = { partner: Args.string({ description: 'id of the partner' }) };
  static override flags = {
    'since-checkpoint': Flags.boolean({
      description: 'only pages written since the last audit that found nothing wrong',
    }),
  };

  async run() {
    const reports = await this.audit(await this.api());
    const bad = reports.filter(({ findings }) => findings.length > 0);
    for (const { walletId, findings } of bad) {
      for (const finding of findings) this.log(`${walletId}${placeOf(finding)}: ${finding.problem}`);
    }
    for (const { walletId, fromPage, lastPage, entries, balance } of this.args.partner && bad.length === 0
      ? reports
      : []) {
      const pages =
        fromPage > lastPage ? 'nothing new' : `pages ${fromPage} to ${lastPage}, ${entries} entries`;
      this.log(`${walletId}: ${pages}, balance ${formatCents(balance)}`);
    }
    this.log(
      bad.length === 0
        ? `${reports.length} ledgers are in order`
        : `${bad.length} of ${reports.length} ledgers are not in order`,
    );
    if (bad.length > 0) process.exitCode = exits.refused;
    return reports;
  }

  private async audit(api: AdminApi): Promise<Report[]> {
    const { partner } = this.args;
    const sinceCheckpoint = this.flags['since-checkpoint'];
    if (partner) return api.wallets.audit.query({ partnerId: partner, sinceCheckpoint });
    const reports: Report[] = [];
    for (;;) {
      const after = reports.at(-1)?.walletId;
      const page = await api.wallets.audit.query({
        limit: pageLength,
        sinceCheckpoint,
        ...(after && { after }),
      });
      reports.push(...page);
      if (page.length < pageLength) return reports;
      this.notice(`${reports.length} wallets checked…`);
    }
  }
}
