import * as Flags from '@oclif/core/flags';
import { retentionMs } from '../../../contracts/retention.ts';
import { eventFilters } from '../../flags/filters.ts';
import { pageFlags, requireFromBeforeTo } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';

export default class EventsList extends ListCommand<typeof EventsList> {
  static override summary = 'List events, newest first, with what became of each.';
  static override examples = ['<%= config.bin %> events list --partner ptr_… --since 2h'];
  static override flags = {
    ...eventFilters,
    session: idFlag('session')({ description: 'only of this session' }),
    enrollment: idFlag('enrollment')({ description: 'only of this enrollment' }),
    sub: Flags.string({ description: 'only of this user (user_id)' }),
    ...pageFlags,
  };

  async run() {
    const { partner, key, session, enrollment, mode, event, since, until, sub } = this.flags;
    requireFromBeforeTo(since, until);
    const ids = { partnerId: partner, keyId: key, sessionId: session, enrollmentId: enrollment, sub };
    const wanted = { ...ids, mode, event, since, until };
    return this.showList({
      keptMs: retentionMs.event,
      page: (page) => this.api.events.list.query({ ...wanted, ...page }),
      count: () => this.api.events.count.query(wanted),
      fields: async () => Object.keys((await import('../../../contracts/admin/events.ts')).ListedEvent.shape),
      columns: ['id', 'event', 'status', 'partnerName', 'mode', 'keyId', 'createdAt'],
      dropIfNarrow: [...columnsSameFor(partner), 'keyId', 'mode'],
    });
  }
}
