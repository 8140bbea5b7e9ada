import { mode } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class LimitsShow extends AdminCommand<typeof LimitsShow> {
  static override summary = 'Show the spend limits of a partner, and their use.';
  static override examples = ['<%= config.bin %> limits show ptr_… --mode live'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = { mode };

  async run() {
    return this.showRecord(
      await this.api.limits.show.query({ partnerId: this.args.partner, mode: this.flags.mode }),
    );
  }
}
