import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags } from '../../flags.ts';

export default class OperatorsList extends AdminCommand<typeof OperatorsList> {
  static override summary = 'List operators, newest first.';
  static override examples = ['<%= config.bin %> operators list --status active'];
  static override flags = {
    status: Flags.option({ options: ['active', 'revoked'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { status, limit, after } = this.flags;
    const api = await this.api();
    const operators = await api.operators.list.query(given({ status, limit, after }));
    return this.many(
      operators,
      ['id', 'name', 'role', 'status', 'lastUsedAt', 'expiresAt', 'createdAt'],
      ['createdAt', 'expiresAt'],
    );
  }
}
