import { CarefulCommand } from '../../careful/careful-command.ts';
import { count } from '../../careful/previews.ts';
import { userArg } from '../../flags/ids.ts';

export default class UsersErase extends CarefulCommand<typeof UsersErase> {
  static override summary = 'Erase a user: claims, enrollments, and their data in kept tokens and events.';
  static override description =
    'Tokens of the user become invalid immediately. The ledger keeps its charges, which name no user. If the same person verifies again, they are a new user with a new sub.';
  static override examples = [
    '<%= config.bin %> users erase SUB',
    '<%= config.bin %> users erase usr_… --dry-run',
  ];
  static override args = {
    user: userArg({ description: 'sub, or id of an enrollment or of the user', required: true }),
  };

  async run() {
    const { id, mode, claims, enrollments } = await this.api.users.show.query({
      user: this.args.user,
      // The operator sees the user only in the question, so the command itself gives the reason.
      reason: 'erasure',
    });
    const consequence = `Erases the ${mode} user ${id}: ${count(claims.length, 'claim')}, ${count(enrollments.length, 'enrollment')}, and every token and event that tells of them. This cannot be undone.`;
    const intent = { id, consequence, isLive: mode === 'live' };
    return this.runConfirmed(intent, async () =>
      this.showRecord(await this.api.users.erase.mutate({ userId: id })),
    );
  }
}
