import * as Flags from '@oclif/core/flags';
import type { AuditLogEntry } from '../../../contracts/admin/audit-log.ts';
import { pageFlags, requireFromBeforeTo, spanFlags } from '../../flags/flags.ts';
import { idFlag, userFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';
import { formatValue } from '../../output/format.ts';
import { commandProcedures } from '../../roles/procedures.ts';

export default class AuditLogList extends ListCommand<typeof AuditLogList> {
  static override summary = 'List what operators changed, tried to change, or read of users, newest first.';
  static override examples = [
    '<%= config.bin %> audit-log list --partner ptr_… --since 7d',
    '<%= config.bin %> audit-log list --action "webhooks replay" --target key_…',
    '<%= config.bin %> audit-log list --user SUB --where outcome=read',
    '<%= config.bin %> audit-log list --since 2026-07-01T14:00 --until 2026-07-01T15:00',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only about this partner and its records' }),
    target: Flags.string({ description: 'only about this record' }),
    user: userFlag({
      description:
        'only about this user: sub (user_id), or id of the user, a passkey or an enrollment; not for the role ops',
    }),
    actor: Flags.string({ description: 'only by this operator: id or name' }),
    action: Flags.string({ description: 'only these: a command, an action such as users.show, or a topic' }),
    ...spanFlags,
    ...pageFlags,
  };

  async run() {
    const { partner: partnerId, target, user, actor, since, until } = this.flags;
    // A command with another name than its procedures, such as `webhooks replay`.
    const action = commandActions(this.flags.action);
    requireFromBeforeTo(since, until);
    const wanted = { partnerId, target, user, actor, action, since, until };
    const isRestricted = (await this.api.operators.whoami.query()).role === 'support';
    return this.showList({
      notes: () => (isRestricted ? [restriction] : []),
      page: (page) => this.api.auditLog.list.query({ ...wanted, ...page }),
      count: () => this.api.auditLog.count.query(wanted),
      show: showEntry,
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/audit-log.ts')).AuditLogEntry.shape),
      columns: ['at', 'operator', 'role', 'action', 'target', 'change'],
      dropIfNarrow: ['change', 'role', 'operator'],
    });
  }
}

/** Returns the procedures of a command, which the log names; any other text unchanged. */
const commandActions = (text: string | undefined) =>
  text === undefined ? undefined : [...(commandProcedures[text.trim().replaceAll(/\s+/g, ' ')] ?? [text])];

const restriction =
  'For the role support: your own entries, and what others changed of partners, clients, keys, integrations and wallets.';

/** Returns an entry for a table: its operator by name, and the change as one text. */
function showEntry({
  before,
  after,
  input,
  operatorName: operator,
  operatorRole: role,
  outcome,
  error,
  ...entry
}: AuditLogEntry) {
  const describe = (state: typeof before) => formatValue('state', state);
  // A call that changed no record has an input instead of a new state.
  const newState = describe(after ?? input);
  const change = before ? `${describe(before)} → ${newState}` : newState;
  const action = outcome === 'changed' ? entry.action : `${entry.action}: ${outcome}`;
  return {
    ...entry,
    outcome,
    operator,
    role,
    action,
    change: error === null ? change : `${error}: ${change}`,
  };
}
