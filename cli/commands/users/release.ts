import { CarefulCommand } from '../../careful/careful-command.ts';
import { requiredReason } from '../../flags/flags.ts';
import { userArg } from '../../flags/ids.ts';

export default class UsersRelease extends CarefulCommand<typeof UsersRelease> {
  static override summary = 'End the legal hold on a user early.';
  static override description =
    'The user can be erased again. Records that have expired during the hold are deleted within 30 days.';
  static override examples = ['<%= config.bin %> users release usr_… --reason "the case is closed"'];
  static override args = {
    user: userArg({ description: 'sub, or id of an enrollment or of the user', required: true }),
  };
  static override flags = {
    reason: requiredReason,
  };

  async run() {
    const { reason } = this.flags;
    const { id, mode, hold } = await this.api.users.show.query({ user: this.args.user, reason });
    const consequence = `The records of the ${mode} user ${id} can be erased, and expire again${hold ? '' : '; there is no hold'}.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.users.release.mutate({ userId: id, reason })),
    );
  }
}
