import * as Flags from '@oclif/core/flags';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class MembersRole extends AdminCommand<typeof MembersRole> {
  static override summary = 'Change the role of a member. It holds from the next request on.';
  static override examples = ['<%= config.bin %> members role mem_… --role finance'];
  static override args = { member: idArg('member')({ description: 'id of the member', required: true }) };
  static override flags = {
    role: Flags.option({ options: ['owner', 'developer', 'finance', 'viewer'] as const })({
      description: 'the new role',
      required: true,
    }),
  };

  async run() {
    return this.showRecord(
      await this.api.members.setRole.mutate({ memberId: this.args.member, role: this.flags.role }),
    );
  }
}
