import { count } from '../../careful/previews.ts';
import { BulkCommand, bulkFlags, filterOf, hasFilter } from '../../deliveries/bulk.ts';
import { deliveryFields } from '../../deliveries/views.ts';
import { usageError } from '../../errors/failure.ts';
import { eventFilters } from '../../flags/filters.ts';
import { idArg } from '../../flags/ids.ts';

export default class DeliveriesCancel extends BulkCommand<typeof DeliveriesCancel> {
  static override summary =
    'Cancel a delivery, or all pending ones that a filter finds: no further attempts are made.';
  static override description = 'The events are kept, and `deliveries resend` sends them again.';
  static override examples = [
    '<%= config.bin %> deliveries cancel dlv_…',
    '<%= config.bin %> deliveries cancel --key key_… --event vae.resolved --dry-run',
  ];
  static override args = { delivery: idArg('delivery')({ description: 'id of the delivery' }) };
  static override flags = { ...eventFilters, detach: bulkFlags.detach };

  async run() {
    const { delivery } = this.args;
    // One of the two is given, and not both.
    if ((delivery !== undefined) === hasFilter(this.flags))
      throw usageError('Name a delivery, or give a filter such as --key');
    if (delivery !== undefined) return this.#cancel(delivery);
    return this.startBulk({ action: 'cancel', filter: filterOf(this.flags) }, { confirm: 'always' });
  }

  async #cancel(deliveryId: string) {
    const delivery = await this.api.deliveries.show.query({ deliveryId });
    const { id, event, eventId, keyId, mode, attempts } = delivery;
    const consequence = `The ${mode} event ${event} (${eventId}) is not sent to ${keyId} any more, after ${count(attempts.length, 'attempt')}: ${id} ends as skipped.`;
    return this.runConfirmed(
      { id, consequence, isLive: mode === 'live', confirm: 'only-live-at-terminal' },
      async () => {
        const cancelled = await this.api.deliveries.cancel.mutate({ deliveryId: id });
        this.showRecord(cancelled, deliveryFields);
        return cancelled;
      },
    );
  }
}
