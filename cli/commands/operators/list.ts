import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class OperatorsList extends ListCommand<typeof OperatorsList> {
  static override summary = 'List operators, newest first.';
  static override examples = ['<%= config.bin %> operators list --status active'];
  static override flags = {
    status: Flags.option({ options: ['active', 'expired', 'revoked'] as const })({
      description: 'only these',
    }),
    ...pageFlags,
  };

  async run() {
    const wanted = { status: this.flags.status };
    return this.showList({
      page: (page) => this.api.operators.list.query({ ...wanted, ...page }),
      count: () => this.api.operators.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/operators.ts')).OperatorView.shape),
      columns: ['id', 'name', 'role', 'status', 'last4', 'lastUsedAt', 'expiresAt', 'createdAt'],
      dropIfNarrow: ['createdAt', 'expiresAt', 'last4'],
    });
  }
}
