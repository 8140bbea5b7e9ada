import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { explainWaiting, listedStatus } from '../../deliveries.ts';
import { given, pageFlags, requireOrder } from '../../flags.ts';
import { eventFilters } from '../../flags-events.ts';

const statuses = ['pending', 'waiting', 'in_flight', 'delivered', 'failed', 'skipped'] as const;

export default class DeliveriesList extends AdminCommand<typeof DeliveriesList> {
  static override summary = 'List deliveries of events, newest first.';
  static override description =
    'A pending delivery with a due attempt is shown as `waiting`, with the reason.';
  static override examples = [
    '<%= config.bin %> deliveries list --status failed --since 24h',
    '<%= config.bin %> deliveries list --status waiting',
  ];
  static override flags = {
    status: Flags.option({ options: statuses })({ description: 'only these' }),
    'event-id': Flags.string({ description: 'only of this event (evt_…)' }),
    ...eventFilters,
    ...pageFlags,
  };

  async run() {
    const { partner, key, mode, event, status, since, until, limit, after } = this.flags;
    const ids = given({ partnerId: partner, keyId: key, eventId: this.flags['event-id'] });
    requireOrder(since, until);
    const api = await this.api();
    const wanted = { ...ids, ...given({ mode, event, status, since, until, limit, after }) };
    const deliveries = await api.deliveries.list.query(wanted);
    this.many(
      deliveries.map((delivery) => ({
        ...delivery,
        status: listedStatus(delivery),
        attempts: delivery.attempts.length,
      })),
      ['id', 'event', 'status', 'attempts', 'keyId', 'nextAttemptAt', 'createdAt'],
      ['keyId', 'createdAt', 'attempts'],
    );
    if (!this.jsonEnabled()) for (const sentence of explainWaiting(deliveries)) this.notice(sentence);
    return deliveries;
  }
}
