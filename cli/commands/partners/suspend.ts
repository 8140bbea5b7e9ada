import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeServed } from '../../careful/served.ts';
import { idArg } from '../../flags/ids.ts';

export default class PartnersSuspend extends CarefulCommand<typeof PartnersSuspend> {
  static override summary = 'Suspend a partner until it is activated again.';
  static override description =
    'Its clients and keys are refused, and its webhooks are skipped. Nothing is deleted.';
  static override examples = [
    '<%= config.bin %> partners suspend ptr_… --dry-run',
    '<%= config.bin %> partners suspend ptr_…',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };

  async run() {
    const { id, name, status } = await this.api.partners.show.query({ partnerId: this.args.partner });
    const suspend = async () => this.showRecord(await this.api.partners.suspend.mutate({ partnerId: id }));
    // Nothing of an inactive partner can stop, so nothing needs confirmation. A dry run still says so.
    if (status !== 'active' && !this.isDryRun) return suspend();
    const consequence =
      status === 'active'
        ? `${name} (${id}) stops in test and live mode until it is activated again: ${await describeServed(this.api, id)}.`
        : `Nothing stops: ${name} (${id}) is ${status}.`;
    return this.runConfirmed({ id, consequence, isLive: true, confirm: 'only-at-terminal' }, suspend);
  }
}
