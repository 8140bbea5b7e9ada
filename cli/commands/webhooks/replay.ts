import * as Flags from '@oclif/core/flags';
import { BulkCommand, bulkFlags, filterOf, to } from '../../deliveries/bulk.ts';
import { eventFilters } from '../../flags/filters.ts';
import { idArg } from '../../flags/ids.ts';

const { event, since, until } = eventFilters;

export default class WebhooksReplay extends BulkCommand<typeof WebhooksReplay> {
  static override summary = 'Send all events of an API key in a time span again, also those that arrived.';
  static override description =
    'For a receiver that has lost what it got. A job of the server sends them, oldest first, with the same event_id. Events whose delivery is pending or in flight are left out. A second replay of the same time is refused without --again.';
  static override examples = [
    '<%= config.bin %> webhooks replay key_… --since 2026-07-01T08:00 --until 2026-07-01T12:00 --rate 20/s',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    event,
    since: { ...since, required: true as const },
    until,
    ...bulkFlags,
    to,
    again: Flags.boolean({ description: 'also where a replay of this time was made before' }),
  };

  async run() {
    const { again, rate, to: url } = this.flags;
    const filter = filterOf({ ...this.flags, key: this.args.key });
    return this.startBulk({ action: 'replay', filter, again, rate, to: url }, { confirm: 'always' });
  }
}
