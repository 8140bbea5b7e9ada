import * as Flags from '@oclif/core/flags';
import { BulkCommand, bulkFlags, filterOf, hasFilter, to } from '../../deliveries/bulk.ts';
import { usageError } from '../../errors/failure.ts';
import { eventFilters } from '../../flags/filters.ts';
import { idArg } from '../../flags/ids.ts';

export default class DeliveriesResend extends BulkCommand<typeof DeliveriesResend> {
  static override summary = 'Resend deliveries: the named ones, or all that a filter finds.';
  static override description =
    'The new attempts have the same event_id, so that receivers can deduplicate. With a filter, a job of the server sends them, oldest first. It leaves out events that arrived by another delivery, and asks for confirmation with their number.';
  static override examples = [
    '<%= config.bin %> deliveries resend dlv_…',
    '<%= config.bin %> deliveries resend --key key_… --since 24h --dry-run',
    '<%= config.bin %> deliveries resend --partner ptr_… --since 24h --rate 20/s',
  ];
  static override args = {
    delivery: idArg('delivery')({ description: 'ids of deliveries', multiple: true }),
  };
  static override flags = {
    ...eventFilters,
    status: Flags.option({ options: ['failed', 'skipped', 'delivered'] as const })({
      description: 'with a filter: deliveries with this status (default failed)',
    }),
    ...bulkFlags,
    to,
    again: Flags.boolean({ description: 'with --status delivered: also what was sent again before' }),
  };

  async run() {
    const deliveryIds = this.args.delivery ?? [];
    const { since, status, rate, again, to: url } = this.flags;
    const isNamed = deliveryIds.length > 0;
    // Deliveries are either named or found by a filter. With a filter, the server requires --since.
    const isUnclear = isNamed ? hasFilter(this.flags) : since === undefined;
    if (isUnclear) throw usageError('Name deliveries, or give a filter with --since');
    if (isNamed) return this.#resend(deliveryIds);
    const filter = { ...filterOf(this.flags), status: status ?? ('failed' as const) };
    return this.startBulk(
      { action: 'resend', filter, again, rate, to: url },
      { confirm: 'only-at-terminal' },
    );
  }

  async #resend(deliveryIds: string[]) {
    const { dryRun, deliveries } = await this.api.deliveries.resend.mutate({
      deliveryIds,
      to: this.flags.to,
      dryRun: this.isDryRun,
    });
    const target = this.flags.to === undefined ? '' : ` to ${this.flags.to}`;
    this.writeNotice(`${dryRun ? 'Would be sent again' : 'Sent again'}${target}: ${deliveries.length}`);
    return this.showTable(deliveries, ['id', 'event', 'status', 'keyId', 'nextAttemptAt', 'resendOf', 'to'], {
      dropIfNarrow: ['keyId', 'resendOf', 'to'],
    });
  }
}
