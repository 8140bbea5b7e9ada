import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, moment, pageFlags, requireOrder } from '../../flags.ts';
import { requestFilters } from '../../requests.ts';
import { continueHint } from '../../searches.ts';

export default class RequestsList extends AdminCommand<typeof RequestsList> {
  static override summary = 'List requests of partners and their users, newest first.';
  static override description =
    'Requests are kept for a week if they name a known client, API key, integration or session. Under load, frequent failures and successes are sampled.';
  static override examples = [
    '<%= config.bin %> requests list --partner ptr_… --status 4xx --since 24h',
    '<%= config.bin %> requests list --path /api/oauth/token --error invalid_grant',
  ];
  static override flags = {
    ...requestFilters,
    session: Flags.string({ description: 'only of this session' }),
    since: moment({ description: 'only since this time' }),
    until: moment({ description: 'only before this time' }),
    ...pageFlags,
  };

  async run() {
    const { partner, client, session, status, path, error, since, until, limit, after } = this.flags;
    requireOrder(since, until);
    const ids = given({ partnerId: partner, clientId: client, sessionId: session });
    const api = await this.api();
    const found = await api.requests.list.query({
      ...ids,
      ...given({ status, path, error, since, until, limit, after }),
    });
    this.many(found.rows, ['id', 'at', 'status', 'error', 'method', 'route', 'durationMs', 'partnerId']);
    if (found.stoppedAfter) this.notice(continueHint(found.stoppedAfter));
    return found.rows;
  }
}
