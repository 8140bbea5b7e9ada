import type { AuditLogEntry } from '../../../contracts/admin/audit-log.ts';
import { mode, pageFlags } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

/** Writes the change of a limit, such as `60 → 300`; null if the limit was not given. */
function describeChange(from: unknown, to: unknown): string | null {
  if (to === undefined || to === null) return null;
  return from === undefined || from === null || from === to ? String(to) : `${from} → ${to}`;
}

function showChange({ id, at, operatorName, before, after, input, outcome, error }: AuditLogEntry) {
  // A call that was refused has no new state, but the limits that it asked for.
  const wanted = after ?? input;
  return {
    id,
    at,
    operator: operatorName,
    perMinute: describeChange(before?.['perMinute'], wanted?.['perMinute']),
    perHour: describeChange(before?.['perHour'], wanted?.['perHour']),
    outcome: error ?? outcome,
  };
}

export default class LimitsHistory extends ListCommand<typeof LimitsHistory> {
  static override summary = 'List the changes of the spend limits of a partner, newest first.';
  static override description = 'From the audit log: who changed what, and what was refused.';
  static override examples = ['<%= config.bin %> limits history ptr_… --mode live'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = { mode, ...pageFlags };

  async run() {
    const wanted = { target: `${this.args.partner}:${this.flags.mode}`, action: 'limits.set' };
    return this.showList({
      page: (page) => this.api.auditLog.list.query({ ...wanted, ...page }),
      count: () => this.api.auditLog.count.query(wanted),
      show: showChange,
      fields: async () => ['id'],
      columns: ['at', 'operator', 'perMinute', 'perHour', 'outcome'],
    });
  }
}
