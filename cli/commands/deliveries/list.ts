import * as Flags from '@oclif/core/flags';
import { retentionMs } from '../../../contracts/retention.ts';
import { explainWaits, listedDelivery } from '../../deliveries/views.ts';
import { eventFilters } from '../../flags/filters.ts';
import { pageFlags, requireFromBeforeTo } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

const statuses = ['pending', 'waiting', 'in_flight', 'delivered', 'failed', 'skipped'] as const;

export default class DeliveriesList extends ListCommand<typeof DeliveriesList> {
  static override summary = 'List deliveries of events, newest first.';
  static override description =
    'A pending delivery with a due attempt is shown as `waiting`, with the reason.';
  static override examples = [
    '<%= config.bin %> deliveries list --status failed --since 24h',
    '<%= config.bin %> deliveries list --status waiting',
  ];
  static override flags = {
    status: Flags.option({ options: statuses })({ description: 'only these' }),
    'event-id': idFlag('event')({ description: 'only of this event (evt_…)' }),
    ...eventFilters,
    ...pageFlags,
  };

  async run() {
    const { partner, key, 'event-id': eventId, mode, event, status, since, until } = this.flags;
    requireFromBeforeTo(since, until);
    const wanted = { partnerId: partner, keyId: key, eventId, mode, event, status, since, until };
    return this.showList({
      keptMs: retentionMs.event,
      page: (page) => this.api.deliveries.list.query({ ...wanted, ...page }),
      count: () => this.api.deliveries.count.query(wanted),
      show: listedDelivery,
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/deliveries.ts')).ListedDelivery.shape),
      columns: [
        'id',
        'event',
        'status',
        'lastStatus',
        'attempts',
        'partnerName',
        'keyId',
        'nextAttemptAt',
        'createdAt',
      ],
      dropIfNarrow: ['keyId', 'createdAt', 'nextAttemptAt', 'attempts'],
      notes: explainWaits,
    });
  }
}
