import { Args } from '@oclif/core';
import { BulkCommand, bulkFlags, filterOf, hasFilter } from '../../deliveries/bulk.ts';
import { deliveryFields } from '../../deliveries/views.ts';
import { usageError } from '../../errors/failure.ts';
import { eventFilters } from '../../flags/filters.ts';
import { dueAt, newTime } from '../../flags/flags.ts';

export default class DeliveriesReschedule extends BulkCommand<typeof DeliveriesReschedule> {
  static override summary =
    'Reschedule the next attempt of a delivery, or of all pending ones that a filter finds.';
  static override description =
    'If it fails, the next attempts follow with the usual delays. With a filter, the attempts follow each other from that time on, at the rate.';
  static override examples = [
    '<%= config.bin %> deliveries reschedule dlv_… --in 30m',
    '<%= config.bin %> deliveries reschedule dlv_… --at 2026-07-01T09:00',
    '<%= config.bin %> deliveries reschedule dlv_… --in 0s',
    '<%= config.bin %> deliveries reschedule --key key_… --in 4h --rate 20/s',
  ];
  static override args = { delivery: Args.string({ description: 'id of the delivery' }) };
  static override flags = { ...newTime, ...eventFilters, ...bulkFlags };

  async run() {
    const { delivery: deliveryId } = this.args;
    const [isNamed, isFiltered] = [deliveryId !== undefined, hasFilter(this.flags)];
    // Equal means both or none, and exactly one is needed.
    if (isNamed === isFiltered) throw usageError('Name a delivery, or give a filter such as --key');
    if (deliveryId !== undefined) return this.#reschedule(deliveryId);
    const filter = filterOf(this.flags);
    const { rate } = this.flags;
    return this.startBulk(
      { action: 'reschedule', filter, ...dueAt(this.flags), rate },
      { confirm: 'always' },
    );
  }

  async #reschedule(deliveryId: string) {
    const reschedule = async () => {
      const delivery = await this.api.deliveries.reschedule.mutate({ deliveryId, ...dueAt(this.flags) });
      this.showRecord(delivery, deliveryFields);
      return delivery;
    };
    // Another time for one delivery needs no confirmation, so only --dry-run shows what would be done.
    if (!this.isDryRun) return reschedule();
    const { id, nextAttemptAt } = await this.api.deliveries.show.query({ deliveryId });
    await this.tryOut(reschedule);
    return this.showDryRun(id, `The attempt of ${id} that is due at ${nextAttemptAt} gets another time.`);
  }
}
