import { mode } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WalletsShow extends AdminCommand<typeof WalletsShow> {
  static override summary = 'Show a wallet of a partner.';
  static override examples = ['<%= config.bin %> wallets show ptr_… --mode live'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = { mode };

  async run() {
    return this.showRecord(
      await this.api.wallets.show.query({ partnerId: this.args.partner, mode: this.flags.mode }),
    );
  }
}
