import { BulkCommand, bulkFlags } from '../../deliveries/bulk.ts';
import { eventFilters } from '../../flags/filters.ts';
import { holdEnd } from '../../flags/hold-end.ts';
import { idArg } from '../../flags/ids.ts';

const { until: _end, ...filters } = eventFilters;

export default class DeliveriesHold extends BulkCommand<typeof DeliveriesHold> {
  static override summary = 'Hold a delivery, or all pending ones that a filter finds, until a time.';
  static override description =
    'Then the attempts follow each other at the rate. It is a reschedule to that time: events that come later are sent at once. To hold those too, use webhooks pause.';
  static override examples = [
    '<%= config.bin %> deliveries hold dlv_… --until 18:00',
    '<%= config.bin %> deliveries hold --key key_… --for 4h --dry-run',
    '<%= config.bin %> deliveries hold --partner ptr_… --event vae.resolved --until 2026-07-01T09:00',
  ];
  static override args = { delivery: idArg('delivery')({ description: 'id of the delivery' }) };
  static override flags = {
    until: holdEnd({
      description: 'time, local unless it names a zone, or a duration from now; also --for',
      aliases: ['for'],
      required: true,
    }),
    ...filters,
    ...bulkFlags,
  };

  async run() {
    const { until: at, ...conditions } = this.flags;
    return this.reschedule({ at }, { ...conditions, delivery: this.args.delivery });
  }
}
