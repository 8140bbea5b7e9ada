import { actReason } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersActivate extends AdminCommand<typeof PartnersActivate> {
  static override summary = 'Activate a partner that is pending, suspended or closed.';
  static override description = 'The role ops activates suspended partners only, and has to give a reason.';
  static override examples = [
    '<%= config.bin %> partners activate ptr_…',
    '<%= config.bin %> partners activate ptr_… --reason "suspended by mistake, INC-12"',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };

  static override flags = { reason: actReason };

  async run() {
    const { reason } = this.flags;
    return this.showRecord(await this.api.partners.activate.mutate({ partnerId: this.args.partner, reason }));
  }
}
