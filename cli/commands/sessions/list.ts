import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, modeFilter, moment, pageFlags, requireOrder } from '../../flags.ts';
import { continueHint } from '../../searches.ts';

const states = ['pending', 'authenticated', 'verified', 'complete', 'open', 'failed', 'expired'] as const;

export default class SessionsList extends AdminCommand<typeof SessionsList> {
  static override summary = 'List sessions, newest first, with their state and the reason of a failure.';
  static override description =
    '`open` can still get a code. `failed` ended with an event. `expired` ended without an event, and is kept for a day. The other states are the last status.';
  static override examples = [
    '<%= config.bin %> sessions list --partner ptr_… --since 2h',
    '<%= config.bin %> sessions list --partner ptr_… --status expired --since 2026-07-01T14:00 --until 2026-07-01T15:00',
  ];
  static override flags = {
    partner: Flags.string({ description: 'only of this partner' }),
    client: Flags.string({ description: 'only of this client' }),
    enrollment: Flags.string({ description: 'only of this enrollment' }),
    mode: modeFilter,
    status: Flags.option({ options: states })({ description: 'only these' }),
    since: moment({ description: 'only started since this time' }),
    until: moment({ description: 'only started before this time' }),
    ...pageFlags,
  };

  async run() {
    const { partner, client, enrollment, mode, status, since, until, limit, after } = this.flags;
    requireOrder(since, until);
    const ids = given({ partnerId: partner, clientId: client, enrollmentId: enrollment });
    const api = await this.api();
    const found = await api.sessions.list.query({
      ...ids,
      ...given({ mode, status, since, until, limit, after }),
    });
    this.many(found.rows, ['id', 'createdAt', 'status', 'reason', 'mode', 'source', 'clientId', 'sub']);
    if (found.stoppedAfter) this.notice(continueHint(found.stoppedAfter));
    return found.rows;
  }
}
