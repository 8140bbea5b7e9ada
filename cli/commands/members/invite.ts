import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class MembersInvite extends AdminCommand<typeof MembersInvite> {
  static override summary = 'Invite a person of a partner to the portal. The link is shown once.';
  static override description =
    "The link is valid for 48 hours, works once, and makes a passkey. For a member who has lost all passkeys, invite the same address again: the new one replaces them. Once the partner has an active owner, an operator's invitation of an owner or of a member waits. An owner confirms it, or it can be used after 24 hours (heldUntil). All owners get an e-mail. Needs SVC_PORTAL=on.";
  static override examples = ['<%= config.bin %> members invite ptr_… dev@shop.example --role owner'];
  static override args = {
    partner: idArg('partner')({ description: 'id of the partner', required: true }),
    email: Args.string({ description: 'e-mail address of the person', required: true }),
  };
  static override flags = {
    role: Flags.option({ options: ['owner', 'developer', 'finance', 'viewer'] as const })({
      description: 'role of the member',
      required: true,
    }),
    'out-file': outFile,
  };

  async run() {
    const { partner: partnerId, email } = this.args;
    return this.showWithSecret('link', () =>
      this.api.members.invite.mutate({ partnerId, email, role: this.flags.role }),
    );
  }
}
