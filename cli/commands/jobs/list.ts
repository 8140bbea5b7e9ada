import { Flags } from '@oclif/core';
import { pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class JobsList extends ListCommand<typeof JobsList> {
  static override summary = 'List jobs: scheduled, locked, late, stuck or malformed.';
  static override examples = ['<%= config.bin %> jobs list'];
  static override flags = { name: Flags.string({ description: 'only jobs of this name' }), ...pageFlags };

  async run() {
    const wanted = { name: this.flags.name };
    return this.showList({
      page: (page) => this.api.jobs.list.query({ ...wanted, ...page }),
      count: () => this.api.jobs.count.query(wanted),
      fields: async () => Object.keys((await import('../../../contracts/admin/jobs.ts')).JobView.shape),
      columns: ['id', 'name', 'state', 'nextRunAt', 'lockedAt', 'lockedBy', 'wakes', 'failReason'],
      dropIfNarrow: ['lockedBy', 'lockedAt', 'wakes', 'failReason'],
    });
  }
}
