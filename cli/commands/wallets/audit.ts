import * as Flags from '@oclif/core/flags';
import type { AdminApi } from '../../connection/client.ts';
import { exits } from '../../errors/failure.ts';
import { formatCents } from '../../flags/amounts.ts';
import { idArg } from '../../flags/ids.ts';
import { checkLedgers, summarizeLedgers } from '../../list/ledgers.ts';
import { AdminCommand } from '../../program/base-command.ts';

type Report = Awaited<ReturnType<AdminApi['wallets']['audit']['query']>>[number];

/** Describes where a finding is, such as ` page 3 entry txn_… seq 12`. A finding about the whole ledger has no page. */
function locationOf({ page, entry, seq }: Report['findings'][number]): string {
  const pageText = page === undefined ? '' : ` page ${page}`;
  const entryText = entry ? ` entry ${entry}` : '';
  return `${pageText}${entryText}${seq === undefined ? '' : ` seq ${seq}`}`;
}

/** Describes a ledger without findings. */
function describeSound({ walletId, fromPage, lastPage, entries, balance }: Report): string {
  // With --since-checkpoint, the check begins behind the last page if none was written since.
  const pages = fromPage > lastPage ? 'nothing new' : `pages ${fromPage} to ${lastPage}, ${entries} entries`;
  return `${walletId}: ${pages}, balance ${formatCents(balance)}`;
}

export default class WalletsAudit extends AdminCommand<typeof WalletsAudit> {
  static override summary = 'Verify the ledger of every wallet, page by page. Exit 5 if anything is wrong.';
  static override description =
    'Verifies the chain of pages from the first one: digests, balances, spend windows, grants. The service may run. Without a partner, all wallets are verified. A finding that an adjustment acknowledges is shown, and is no failure.';
  static override examples = [
    '<%= config.bin %> wallets audit',
    '<%= config.bin %> wallets audit ptr_…',
    '<%= config.bin %> wallets audit --since-checkpoint',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner' }) };
  static override flags = {
    'since-checkpoint': Flags.boolean({
      description: 'only pages written since the last audit that found nothing wrong',
    }),
  };

  async run() {
    const { partner } = this.args;
    const sinceCheckpoint = this.flags['since-checkpoint'];
    const reports = await checkLedgers(
      partner,
      (wallets) => this.api.wallets.audit.query({ ...wallets, sinceCheckpoint }),
      (sentence) => this.writeNotice(sentence),
    );
    for (const { walletId, findings, acknowledged } of reports) {
      for (const finding of findings)
        this.log(`${walletId}${locationOf(finding)}: ${finding.problem} (${finding.id})`);
      for (const finding of acknowledged)
        this.log(
          `${walletId}${locationOf(finding)}: acknowledged by ${finding.acknowledgedBy}: ${finding.problem} (${finding.id})`,
        );
    }
    const { areInOrder, summary } = summarizeLedgers(reports);
    if (partner && areInOrder) for (const report of reports) this.log(describeSound(report));
    this.log(summary);
    if (!areInOrder) process.exitCode = exits.refused;
    return reports;
  }
}
