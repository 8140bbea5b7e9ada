import { Args, Flags } from '@oclif/core';
import { CarefulCommand } from '../../careful/careful-command.ts';
import type { AdminApi } from '../../connection/client.ts';
import { describeMove } from '../../flags/amounts.ts';

type Entry = Awaited<ReturnType<AdminApi['wallets']['entry']['query']>>;

export default class WalletsRefund extends CarefulCommand<typeof WalletsRefund> {
  static override summary = 'Refund a charge to its wallet. A charge has at most one refund.';
  static override description = 'A refund in test mode needs no confirmation.';
  static override examples = ['<%= config.bin %> wallets refund txn_… --reason "answer was lost"'];
  static override args = { entry: Args.string({ description: 'id of the charge', required: true }) };
  static override flags = {
    reason: Flags.string({ description: 'reason, for the audit log', required: true }),
  };

  async run() {
    const { entry: id } = this.args;
    const refund = async () => {
      const moved = await this.api.wallets.refund.mutate({ entryId: id, reason: this.flags.reason });
      this.log(describeMove(moved.balanceBefore, moved.balanceAfter));
      if (moved.repeated) this.writeNotice('This charge had been refunded before; nothing moved now.');
      return this.showRecord(moved, ['id', 'kind', 'amount', 'of', 'reason', 'at']);
    };
    const entry = await this.api.wallets.entry.query({ entryId: id });
    const isLive = entry.mode === 'live';
    // Play money needs no confirmation. A dry run still describes the change.
    if (!isLive && !this.isDryRun) return refund();
    // Other commands about money write the LIVE line because of --mode live. This one has no --mode, and a dry run needs the line too.
    if (isLive) this.warnLive('live mode');
    const consequence = await describeConsequence(this.api, entry);
    return this.runConfirmed({ id, consequence, unchanged: consequence, isLive }, refund);
  }
}

async function describeConsequence(api: AdminApi, entry: Entry): Promise<string> {
  const { id, kind, amount, partnerId, mode, givenBackBy, refundable } = entry;
  if (givenBackBy) return `Nothing moves: ${id} was given back before, by ${givenBackBy}.`;
  if (!refundable) return `Nothing moves: ${id} is of kind ${kind}, not a charge that cost money.`;
  const { balance, daysLeft } = await api.wallets.show.query({ partnerId, mode });
  return `The ${mode} wallet of ${partnerId} goes ${describeMove(balance, balance - amount)}.${daysLeft === null ? '' : ` Before it, ${daysLeft} days are left.`}`;
}
