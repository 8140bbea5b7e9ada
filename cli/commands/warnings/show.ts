import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WarningsShow extends AdminCommand<typeof WarningsShow> {
  static override summary = 'Show how a partner is warned.';
  static override examples = ['<%= config.bin %> warnings show ptr_…'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };

  async run() {
    return this.showRecord(await this.api.warnings.settings.query({ partnerId: this.args.partner }));
  }
}
