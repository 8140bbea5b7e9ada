import { daySpanFlags, listFlags, mostPerPage, pageFlags, requireFromBeforeTo } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';
import { localTime } from '../../output/format.ts';

export default class RequestsRefused extends ListCommand<typeof RequestsRefused> {
  static override summary = 'Count refused requests by partner, route and reason, the most frequent first.';
  static override description =
    'Counts requests of the API and of the hosted pages that were answered with 4xx or 5xx. Each row has the first time of the period, the last one and its request.';
  static override examples = ['<%= config.bin %> requests refused --since 24h'];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    ...daySpanFlags,
    limit: pageFlags.limit,
    ...listFlags,
  };

  async run() {
    const { partner, since, until } = this.flags;
    requireFromBeforeTo(since, until);
    const limit = this.needsAllRows ? mostPerPage : this.flags.limit;
    const query = { partnerId: partner, since, until, limit };
    const { rows, countedSince } = await this.api.requests.refused.query(query);
    const incompleteNote = `Counted since ${localTime(countedSince)}: what is older is not kept, or too much for one count.`;
    return this.showList({
      page: async () => rows,
      weigh: (row) => row.count,
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/requests.ts')).RefusedView.shape),
      columns: [
        'count',
        'route',
        'error',
        'limit',
        'partnerId',
        'partnerName',
        'firstAt',
        'lastAt',
        'lastRequest',
      ],
      // Both times are RFC 3339 in UTC, so that they compare as texts.
      notes: ([row]) => [
        ...(countedSince > since ? [incompleteNote] : []),
        ...(row?.sampledSince ? [`About: sampled since ${localTime(row.sampledSince)}.`] : []),
      ],
    });
  }
}
