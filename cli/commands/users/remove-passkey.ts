import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class UsersRemovePasskey extends CarefulCommand<typeof UsersRemovePasskey> {
  static override summary = 'Remove a passkey of a user, for instance of a device that was lost.';
  static override description =
    'The user verifies again to return without it. A user who was kept for the passkey alone goes within a day.';
  static override examples = ['<%= config.bin %> users remove-passkey usr_… pky_…'];
  static override args = {
    user: idArg('user')({ description: 'id of the user', required: true }),
    passkey: idArg('passkey')({ description: 'id of the passkey; `users show` lists them', required: true }),
  };

  async run() {
    const { user: userId, passkey: passkeyId } = this.args;
    // The operator sees the user only in the question, so the command itself gives the reason.
    const { mode, passkeys } = await this.api.users.show.query({
      user: userId,
      reason: 'removal of a passkey',
    });
    const consequence = `The ${mode} user ${userId} can no longer return by the passkey ${passkeyId}; ${passkeys.length - 1} stay.`;
    return this.runConfirmed({ id: passkeyId, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.users.removePasskey.mutate({ userId, passkeyId })),
    );
  }
}
