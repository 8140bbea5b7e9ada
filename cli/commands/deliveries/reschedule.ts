import { BulkCommand, bulkFlags } from '../../deliveries/bulk.ts';
import { eventFilters } from '../../flags/filters.ts';
import { dueAt, newTime } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

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
  static override args = { delivery: idArg('delivery')({ description: 'id of the delivery' }) };
  static override flags = { ...newTime, ...eventFilters, ...bulkFlags };

  async run() {
    return this.reschedule(dueAt(this.flags), { ...this.flags, delivery: this.args.delivery });
  }
}
