import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class MembersList extends ListCommand<typeof MembersList> {
  static override summary = 'List the members of a partner, newest first.';
  static override examples = ['<%= config.bin %> members list ptr_… --status active'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    status: Flags.option({ options: ['invited', 'active', 'removed'] as const })({
      description: 'only these',
    }),
    ...pageFlags,
  };

  async run() {
    const wanted = { partnerId: this.args.partner, status: this.flags.status };
    return this.showList({
      page: (page) => this.api.members.list.query({ ...wanted, ...page }),
      count: () => this.api.members.count.query(wanted),
      fields: async () => Object.keys((await import('../../../contracts/admin/members.ts')).MemberView.shape),
      columns: [
        'id',
        'email',
        'role',
        'status',
        'lastSignInAt',
        'invitedUntil',
        'heldUntil',
        'invitedBy',
        'createdAt',
      ],
      dropIfNarrow: ['createdAt', 'invitedBy', 'heldUntil', 'invitedUntil'],
    });
  }
}
