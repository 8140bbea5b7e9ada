import * as Flags from '@oclif/core/flags';
import { BillableKind } from '../../../contracts/charge.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { nounFor } from '../../careful/previews.ts';
import type { AdminApi } from '../../connection/client.ts';
import { usageError } from '../../errors/failure.ts';
import { describeMove, formatCents } from '../../flags/amounts.ts';
import { modeFilter } from '../../flags/flags.ts';
import { idArg, idFlag } from '../../flags/ids.ts';
import { periodFlags, readPeriod } from '../../flags/period.ts';
import { requireRecords } from '../../list/known-records.ts';
import { describeOnly } from '../../list/totals.ts';
import { type ChargeFilter, findRefundable } from '../../wallets/refunds.ts';

type Entry = Awaited<ReturnType<AdminApi['wallets']['entry']['query']>>;

/** After so many refunds, the command says how far it is. */
const refundsPerNotice = 100;

export default class WalletsRefund extends CarefulCommand<typeof WalletsRefund> {
  static override summary =
    'Refund a charge to its wallet, or all charges of a filter. A charge has at most one refund.';
  static override description =
    'A refund in test mode needs no confirmation. With --partner, --mode and a period, all charges of the period are refunded; --dry-run says how many. If it is interrupted, the same command refunds the rest.';
  static override examples = [
    '<%= config.bin %> wallets refund txn_… --reason "answer was lost"',
    '<%= config.bin %> wallets refund --partner ptr_… --mode live --from 2026-07-01 --to 2026-07-02 --reason "outage" --dry-run',
  ];
  static override args = { entry: idArg('entry')({ description: 'id of one charge' }) };
  static override flags = {
    reason: Flags.string({ description: 'reason, for the audit log', required: true }),
    partner: idFlag('partner')({ description: 'charges of this partner, in place of one charge' }),
    mode: modeFilter,
    ...periodFlags,
    client: idFlag('client')({ description: 'only charges whose client is this one and still known' }),
    kind: Flags.option({ options: BillableKind.options })({ description: 'only charges of this kind' }),
  };

  async run() {
    const { entry: id } = this.args;
    const { partner, reason: _reason, ...filter } = this.flags;
    const isFiltered = [
      partner,
      filter.mode,
      filter.from,
      filter.to,
      filter.month,
      filter.client,
      filter.kind,
    ].some((flag) => flag !== undefined);
    if ((id === undefined) !== isFiltered)
      throw usageError('Name one charge, or --partner, --mode and a period of charges');
    return id === undefined ? this.#refundMany(this.#readFilter()) : this.#refundOne(id);
  }

  async #refundOne(id: string) {
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

  /** @throws CommandError without partner, mode or the beginning of the period */
  #readFilter(): ChargeFilter {
    const { partner: partnerId, mode, client, kind } = this.flags;
    const { from, to } = readPeriod(this.flags, 'UTC');
    if (partnerId === undefined || mode === undefined || from === undefined)
      throw usageError('Many charges need --partner, --mode, and --from or --month');
    return { partnerId, mode, from, to, client, kind };
  }

  async #refundMany(filter: ChargeFilter) {
    const { partnerId: id, mode } = filter;
    const { charges, refundedBefore } = await findRefundable(this.api, filter);
    if (charges.length + refundedBefore === 0)
      await requireRecords(() => this.api, { client: filter.client });
    const amount = -charges.reduce((sum, charge) => sum + charge.amount, 0);
    const before = refundedBefore > 0 ? ` ${refundedBefore} were refunded before.` : '';
    const counted = `${charges.length} ${nounFor(charges.length, 'charge')}`;
    const refund = async () => {
      for (const [done, charge] of charges.entries()) {
        await this.api.wallets.refund.mutate({ entryId: charge.id, reason: this.flags.reason });
        if (done > 0 && done % refundsPerNotice === 0) this.writeNotice(`${done} of ${charges.length}`);
      }
      return this.showRecord({ id, mode, refunded: charges.length, amount, refundedBefore });
    };
    const isLive = mode === 'live';
    const { partner, from, to, month, client, kind } = this.flags;
    const given = { partner, mode, from, to, month, client, kind };
    const unchanged = `Nothing moves: no charge matches${describeOnly(given)}.${before}`;
    if (charges.length === 0 && !this.isDryRun) {
      this.writeNotice(unchanged);
      return refund();
    }
    const consequence = `${counted} of the ${mode} wallet of ${id} are refunded: ${formatCents(amount)} USD.${before}`;
    if (!isLive && !this.isDryRun) return refund();
    return this.runConfirmed({ id, consequence, unchanged, isLive }, refund);
  }
}

async function describeConsequence(api: AdminApi, entry: Entry): Promise<string> {
  const { id, kind, amount, partnerId, mode, givenBackBy, refundable } = entry;
  if (givenBackBy) return `Nothing moves: ${id} was given back before, by ${givenBackBy}.`;
  if (!refundable) return `Nothing moves: ${id} is of kind ${kind}, not a charge that cost money.`;
  const { balance, daysLeft } = await api.wallets.show.query({ partnerId, mode });
  return `The ${mode} wallet of ${partnerId} goes ${describeMove(balance, balance - amount)}.${daysLeft === null ? '' : ` Before it, ${daysLeft} days are left.`}`;
}
