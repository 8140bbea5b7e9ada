import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WalletsEntry extends AdminCommand<typeof WalletsEntry> {
  static override summary = 'Show a ledger entry: its wallet, and whether it can be refunded.';
  static override examples = ['<%= config.bin %> wallets entry txn_…'];
  static override args = { entry: idArg('entry')({ description: 'id of the entry', required: true }) };

  async run() {
    return this.showRecord(await this.api.wallets.entry.query({ entryId: this.args.entry }));
  }
}
