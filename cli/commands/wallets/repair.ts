import { CarefulCommand } from '../../careful/careful-command.ts';
import { exits } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';
import { checkLedgers, summarizeLedgers } from '../../list/ledgers.ts';

export default class WalletsRepair extends CarefulCommand<typeof WalletsRepair> {
  static override summary = 'Repair what `wallets audit` finds, where possible. Exit 5 if something is left.';
  static override description =
    'For use after a restore. Publishes unpublished events, ends accesses whose grant is missing or altered, and removes wrong checkpoints. No entry and no amount is changed. Each repaired wallet gets an entry in the audit log.';
  static override examples = [
    '<%= config.bin %> wallets repair --dry-run',
    '<%= config.bin %> wallets repair --yes',
    '<%= config.bin %> wallets repair ptr_… --yes',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner' }) };

  async run() {
    const { partner } = this.args;
    /** Repairs the wallets, or says what a repair would do. */
    const repair = async ({ dryRun = false } = {}) => {
      const reports = await checkLedgers(
        partner,
        (wallets) => this.api.wallets.repair.mutate({ ...wallets, dryRun }),
        (sentence) => this.writeNotice(sentence),
      );
      for (const { walletId, mended, findings } of reports) {
        // A finding about the whole ledger has no page.
        for (const { page, problem } of mended)
          this.log(`${walletId} page ${page ?? '-'}: ${dryRun ? 'to mend' : 'mended'}: ${problem}`);
        for (const { page, problem, id } of findings)
          this.log(`${walletId} page ${page ?? '-'}: LEFT: ${problem} (${id})`);
      }
      const { areInOrder, summary } = summarizeLedgers(reports);
      this.log(
        areInOrder
          ? summary
          : `${summary}: restore another backup, or \`wallets adjust --acknowledge FINDING\``,
      );
      if (!areInOrder) process.exitCode = exits.refused;
      return reports;
    };
    const consequence = `What an audit finds in the ledgers of ${partner ?? 'all partners'} is mended where it can be; accesses whose grant is damaged end.`;
    if (this.isDryRun) {
      this.prepareApi();
      return { ...this.showDryRun(partner ?? 'all', consequence), wallets: await repair({ dryRun: true }) };
    }
    return this.runConfirmed(
      { id: partner ?? 'all', consequence, isLive: true, affected: partner ?? 'all partners' },
      repair,
    );
  }
}
