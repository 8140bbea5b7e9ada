import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags } from '../../flags.ts';

export default class JobsList extends AdminCommand<typeof JobsList> {
  static override summary = 'List jobs: scheduled, locked, late, stuck or malformed.';
  static override examples = ['<%= config.bin %> jobs list'];
  static override flags = { name: Flags.string({ description: 'only jobs of this name' }), ...pageFlags };

  async run() {
    const { name, limit, after } = this.flags;
    const api = await this.api();
    const jobs = await api.jobs.list.query(given({ name, limit, after }));
    return this.many(
      jobs,
      ['id', 'name', 'state', 'nextRunAt', 'lockedAt', 'lockedBy', 'wakes', 'failReason'],
      ['lockedBy', 'lockedAt', 'wakes', 'failReason'],
    );
  }
}
