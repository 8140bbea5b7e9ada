import { retentionMs } from '../../../contracts/retention.ts';
import { requestFilters } from '../../flags/filters.ts';
import { pageFlags, requireFromBeforeTo, spanFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class RequestsList extends ListCommand<typeof RequestsList> {
  static override summary = 'List requests of partners and their users, newest first.';
  static override description =
    'Requests are kept for a week if they name a known client, API key, integration or session. Under load, frequent failures and successes are sampled.';
  static override examples = [
    '<%= config.bin %> requests list --partner ptr_… --status 4xx --since 24h',
    '<%= config.bin %> requests list --path /api/oauth/token --error invalid_grant',
  ];
  static override flags = {
    ...requestFilters,
    session: idFlag('session')({ description: 'only of this session' }),
    ...spanFlags,
    ...pageFlags,
  };

  async run() {
    const { partner, client, session, status, path, error, since, until } = this.flags;
    requireFromBeforeTo(since, until);
    const ids = { partnerId: partner, clientId: client, sessionId: session };
    const wanted = { ...ids, status, path, error, since, until };
    return this.showList({
      keptMs: retentionMs.request,
      page: (page) => this.api.requests.list.query({ ...wanted, ...page }),
      count: () => this.api.requests.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/requests.ts')).ListedRequest.shape),
      columns: ['id', 'at', 'status', 'error', 'method', 'route', 'durationMs', 'partnerId', 'partnerName'],
      dropIfNarrow: ['partnerId'],
    });
  }
}
