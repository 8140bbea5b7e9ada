import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class MembersRemove extends CarefulCommand<typeof MembersRemove> {
  static override summary = 'Remove a member: ends the sessions and the passkey, and erases the address.';
  static override examples = ['<%= config.bin %> members remove mem_…'];
  static override args = { member: idArg('member')({ description: 'id of the member', required: true }) };

  async run() {
    const id = this.args.member;
    const { email, partnerId } = await this.api.members.show.query({ memberId: id });
    const consequence = `${email ?? id} of ${partnerId} is signed out at once, and needs a new invitation to come back.`;
    // Members use only the portal, so users and money are not affected.
    return this.runConfirmed({ id, consequence, isLive: false }, async () =>
      this.showRecord(await this.api.members.remove.mutate({ memberId: id })),
    );
  }
}
