import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, moment, pageFlags } from '../../flags.ts';
import { formatValue } from '../../output/format.ts';

export default class AuditLogList extends AdminCommand<typeof AuditLogList> {
  static override summary = 'List what operators changed, tried to change, or read of users, newest first.';
  static override examples = ['<%= config.bin %> audit-log list --target ptr_… --since 7d'];
  static override flags = {
    target: Flags.string({ description: 'only about this record' }),
    actor: Flags.string({ description: 'only by this operator: id or name' }),
    action: Flags.string({ description: 'only these, as partners.suspend or users.show' }),
    since: moment({ description: 'only since this time' }),
    ...pageFlags,
  };

  async run() {
    const { target, actor, action, since, limit, after } = this.flags;
    const api = await this.api();
    const entries = await api.auditLog.list.query(given({ target, actor, action, since, limit, after }));
    const rows = entries.map(({ before, after, input, operatorName: operator, outcome, error, ...entry }) => {
      const [from, to] = [before, after ?? input].map((fields) => formatValue('fields', fields));
      const change = before ? `${from} → ${to}` : to;
      const action = outcome === 'changed' ? entry.action : `${entry.action}: ${outcome}`;
      return { ...entry, operator, action, change: error === null ? change : `${error}: ${change}` };
    });
    this.many(rows, ['at', 'operator', 'action', 'target', 'change'], ['change', 'operator']);
    return entries;
  }
}
