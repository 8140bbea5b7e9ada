import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { usageError } from '../../failure.ts';
import { given, requireOrder } from '../../flags.ts';
import { eventFilters } from '../../flags-events.ts';

export default class DeliveriesResend extends AdminCommand<typeof DeliveriesResend> {
  static override summary = 'Send deliveries again: those named, or those that a filter finds.';
  static override description =
    'A new series of attempts with the same event_id; receivers that count by it are not confused. By filter, events that arrived otherwise are left out.';
  static override examples = [
    '<%= config.bin %> deliveries resend dlv_…',
    '<%= config.bin %> deliveries resend --key key_… --since 24h --dry-run',
  ];
  static override args = { delivery: Args.string({ description: 'ids of deliveries', multiple: true }) };
  static override flags = {
    ...eventFilters,
    status: Flags.option({ options: ['failed', 'skipped', 'delivered'] as const })({
      description: 'with a filter: those that ended so',
      default: 'failed',
    }),
    after: Flags.string({ description: 'with a filter: go on after this delivery, as told' }),
    'dry-run': Flags.boolean({ description: 'only say which would be sent' }),
  };

  async run() {
    const deliveryIds = this.args.delivery ?? [];
    const { partner, key, mode, event, since, until, status, after } = this.flags;
    const named = deliveryIds.length > 0;
    if (named === (since !== undefined)) throw usageError('Name deliveries, or give a filter with --since');
    const filter = given({ partnerId: partner, keyId: key, mode, event, since, until, after });
    const dryRun = this.flags['dry-run'];
    requireOrder(since, until);
    const api = await this.api();
    const wanted = named ? { deliveryIds } : { filter: { ...filter, since: since ?? '', status } };
    const resent = await api.deliveries.resend.mutate({ ...wanted, dryRun });
    this.notice(`${dryRun ? 'Would be sent again' : 'Sent again'}: ${resent.deliveries.length}`);
    this.many(resent.deliveries, ['id', 'event', 'status', 'keyId', 'nextAttemptAt', 'resendOf']);
    if (resent.after) this.notice(`There are more: go on with the same filter and --after ${resent.after}`);
    return resent.deliveries;
  }
}
