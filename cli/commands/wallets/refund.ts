import { Args, Flags } from '@oclif/core';
import { formatCents } from '../../amounts.ts';
import { CarefulCommand } from '../../careful-command.ts';

export default class WalletsRefund extends CarefulCommand<typeof WalletsRefund> {
  static override summary = 'Give a charge back to its wallet. A charge has one refund at most.';
  static override examples = ['<%= config.bin %> wallets refund txn_… --reason "answer was lost"'];
  static override args = { entry: Args.string({ description: 'id of the charge', required: true }) };
  static override flags = { reason: Flags.string({ description: 'why, for the books', required: true }) };

  async run() {
    const { entry: id } = this.args;
    const api = await this.api();
    const consequence = `The charge ${id} is given back to the wallet that paid it.`;
    return this.confirmed({ id, consequence, live: true }, async () => {
      const moved = await api.wallets.refund.mutate({ entryId: id, reason: this.flags.reason });
      this.log(`${formatCents(moved.balanceBefore)} → ${formatCents(moved.balanceAfter)} ${moved.currency}`);
      if (moved.repeated) this.notice('This charge had been refunded before; nothing moved now.');
      return this.one(moved, ['id', 'kind', 'amount', 'of', 'reason', 'at']);
    });
  }
}
