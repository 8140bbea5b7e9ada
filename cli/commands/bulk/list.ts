import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class BulkList extends ListCommand<typeof BulkList> {
  static override summary = 'List bulk jobs, newest first.';
  static override examples = ['<%= config.bin %> bulk list --status running'];
  static override flags = {
    status: Flags.option({ options: ['running', 'done', 'cancelled'] as const })({
      description: 'only these',
    }),
    ...pageFlags,
  };

  async run() {
    const wanted = { status: this.flags.status };
    return this.showList({
      page: (page) => this.api.bulk.list.query({ ...wanted, ...page }),
      fields: async () => Object.keys((await import('../../../contracts/admin/bulk.ts')).BulkView.shape),
      columns: ['id', 'action', 'status', 'total', 'done', 'leftOut', 'operatorName', 'createdAt'],
      dropIfNarrow: ['operatorName', 'leftOut'],
    });
  }
}
