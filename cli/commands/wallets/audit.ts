import { Args } from '@oclif/core';
import { formatCents } from '../../amounts.ts';
import { AdminCommand } from '../../base-command.ts';
import type { AdminApi } from '../../client.ts';
import { exits } from '../../failure.ts';

type Report = Awaited<ReturnType<AdminApi['wallets']['audit']['query']>>[number];

const pageLength = 20;

export default class WalletsAudit extends AdminCommand<typeof WalletsAudit> {
  static override summary = 'Check every ledger against its wallet. Exit 5 where anything disagrees.';
  static override description = 'Runs while the service does; without a partner, over all wallets.';
  static override examples = ['<%= config.bin %> wallets audit', '<%= config.bin %> wallets audit ptr_…'];
  static override args = { partner: Args.string({ description: 'id of the partner' }) };

  async run() {
    const reports = await this.audit(await this.api());
    const bad = reports.filter(({ findings }) => findings.length > 0);
    for (const { walletId, findings } of bad) {
      for (const { seq, problem } of findings)
        this.log(`${walletId}${seq === undefined ? '' : ` seq ${seq}`}: ${problem}`);
    }
    for (const { walletId, entries, balance } of this.args.partner && bad.length === 0 ? reports : []) {
      this.log(`${walletId}: entries ${entries}, balance ${formatCents(balance)}`);
    }
    this.log(
      bad.length === 0
        ? `${reports.length} wallets agree with their ledgers`
        : `${bad.length} of ${reports.length} wallets disagree`,
    );
    if (bad.length > 0) process.exitCode = exits.refused;
    return reports;
  }

  private async audit(api: AdminApi): Promise<Report[]> {
    const { partner } = this.args;
    if (partner) return api.wallets.audit.query({ partnerId: partner });
    const reports: Report[] = [];
    for (;;) {
      const after = reports.at(-1)?.walletId;
      const page = await api.wallets.audit.query({ limit: pageLength, ...(after && { after }) });
      reports.push(...page);
      if (page.length < pageLength) return reports;
      this.notice(`${reports.length} wallets checked…`);
    }
  }
}
