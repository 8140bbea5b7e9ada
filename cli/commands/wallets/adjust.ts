import { randomUUID } from 'node:crypto';
import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { daysLeftNote, describeMove } from '../../flags/amounts.ts';
import { amount, modeRequired } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class WalletsAdjust extends CarefulCommand<typeof WalletsAdjust> {
  static override summary = 'Adjust a wallet by an amount, up or down.';
  static override description =
    'The same reference and amount twice is one adjustment. Without --reference, a new one is shown: use it to retry.';
  static override examples = [
    '<%= config.bin %> wallets adjust ptr_… --mode test --amount -12.50 --reason "double funding"',
    '<%= config.bin %> wallets adjust ptr_… --mode live --amount 0 --acknowledge fnd_… --reason "disk fault, incident 12"',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode: modeRequired,
    amount: amount({
      description: 'dollars, negative to take away',
      required: true,
      canBeNegative: true,
      helpValue: '-12.50',
    }),
    reason: Flags.string({ description: 'reason, for the audit log', required: true }),
    reference: Flags.string({ description: 'idempotency key: the same reference is one movement' }),
    acknowledge: Flags.string({
      description:
        'a finding of `wallets audit` that no repair can mend, and that this settles; --amount may be 0',
      helpValue: 'fnd_…',
      multiple: true,
    }),
  };

  async run() {
    this.prepareApi();
    const { mode, amount: cents, reason, reference = `adjustment-${randomUUID()}`, acknowledge } = this.flags;
    const named = acknowledge && { acknowledges: acknowledge };
    const wallet = { partnerId: this.args.partner, mode };
    const adjust = async () => {
      this.writeNotice(`Reference: ${reference}`);
      const moved = await this.api.wallets.adjust.mutate({
        ...wallet,
        amount: cents,
        reason,
        reference,
        ...named,
      });
      this.log(describeMove(moved.balanceBefore, moved.balanceAfter));
      return this.showRecord(moved, ['id', 'kind', 'amount', 'reason', 'at']);
    };
    // Play money needs no confirmation. A dry run still describes the change.
    if (mode === 'test' && !this.isDryRun) return adjust();
    const { balance, spentPerDay } = await this.api.wallets.show.query(wallet);
    const change = `${describeMove(balance, balance + cents)}${daysLeftNote(balance + cents, spentPerDay)}`;
    const consequence = `The ${mode} wallet of ${wallet.partnerId} goes ${change}.`;
    return this.runConfirmed({ id: wallet.partnerId, consequence, isLive: mode === 'live' }, adjust);
  }
}
