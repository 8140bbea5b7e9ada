import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { daysLeftNote, describeMove } from '../../flags/amounts.ts';
import { amount, modeRequired } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class WalletsFund extends CarefulCommand<typeof WalletsFund> {
  static override summary = 'Fund a wallet. The same reference and amount twice is one funding.';
  static override examples = [
    '<%= config.bin %> wallets fund ptr_… --mode test --amount 50.00 --reference INV-2026-17',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode: modeRequired,
    amount: amount({ description: 'dollars, at least 50.00', required: true }),
    reference: Flags.string({ description: 'invoice or transfer, as idempotency key', required: true }),
  };

  async run() {
    const { mode, amount: cents, reference } = this.flags;
    const wallet = { partnerId: this.args.partner, mode };
    const fund = async () => {
      const moved = await this.api.wallets.fund.mutate({ ...wallet, amount: cents, reference });
      this.log(describeMove(moved.balanceBefore, moved.balanceAfter));
      if (moved.repeated) this.writeNotice('This reference had been funded before; nothing moved now.');
      return this.showRecord(moved, ['id', 'kind', 'amount', 'reference', 'at']);
    };
    // Play money needs no confirmation. A dry run still describes the change.
    if (mode === 'test' && !this.isDryRun) return fund();
    const { balance, spentPerDay } = await this.api.wallets.show.query(wallet);
    const change = `${describeMove(balance, balance + cents)}${daysLeftNote(balance + cents, spentPerDay)}`;
    const consequence = `The ${mode} wallet of ${wallet.partnerId} goes ${change}, unless ${reference} was funded before.`;
    return this.runConfirmed({ id: wallet.partnerId, consequence, isLive: mode === 'live' }, fund);
  }
}
