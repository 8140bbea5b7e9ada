import * as Flags from '@oclif/core/flags';
import { OperatorRole } from '../../contracts/admin/operators.ts';
import { AdminCommand } from '../program/base-command.ts';
import { rolesOfCommands } from '../roles/table.ts';

export default class Roles extends AdminCommand<typeof Roles> {
  static override summary = 'List commands with the roles that may use them.';
  static override description =
    '`test`: in test mode only. `own`: what the operator did, and changes of partners by all. `part`: for some kinds of records. Commands that need no operator are omitted.';
  static override examples = ['<%= config.bin %> roles', '<%= config.bin %> roles --role support'];
  static override flags = {
    role: Flags.option({ options: OperatorRole.options })({ description: 'only what this role may do' }),
  };

  async run() {
    const { role } = this.flags;
    const [identity, procedures] = await Promise.all([
      this.api.operators.whoami.query(),
      this.api.operators.roles.query(),
    ]);
    const rows = rolesOfCommands(procedures).filter((row) => role === undefined || row[role] !== 'no');
    this.showTable(rows, ['command', 'support', 'ops', 'owner']);
    if (!this.jsonEnabled()) this.writeNotice(`You are ${identity.name}: ${identity.role}.`);
    return rows;
  }
}
