import { describeMove } from '../../flags/amounts.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WalletsRefill extends AdminCommand<typeof WalletsRefill> {
  static override summary = 'Fill the test wallet of a partner with play money, up to 1,000 dollars.';
  static override description =
    'Works ten times between two midnights in UTC. The live wallet is not touched.';
  static override examples = ['<%= config.bin %> wallets refill ptr_…'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };

  async run() {
    const moved = await this.api.wallets.refill.mutate({ partnerId: this.args.partner });
    this.log(describeMove(moved.balanceBefore, moved.balanceAfter));
    return this.showRecord(moved, ['id', 'kind', 'amount', 'reference', 'at']);
  }
}
