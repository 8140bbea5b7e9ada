import { CarefulCommand } from '../../careful/careful-command.ts';
import { requiredReason } from '../../flags/flags.ts';
import { holdEnd } from '../../flags/hold-end.ts';
import { userArg } from '../../flags/ids.ts';
import { localTime } from '../../output/format.ts';

export default class UsersHold extends CarefulCommand<typeof UsersHold> {
  static override summary = 'Hold the records of a user for a legal reason, until a date.';
  static override description =
    'Until then the user cannot be erased, also not by themselves, and nothing of them expires: claims, enrollments, passkeys, sessions, events. At most three years; another hold replaces the one before.';
  static override examples = [
    '<%= config.bin %> users hold SUB --until 2027-06-30 --reason "court order 12/27"',
    '<%= config.bin %> users hold usr_… --until 90d --reason "claim of fraud" --dry-run',
  ];
  static override args = {
    user: userArg({ description: 'sub, or id of an enrollment or of the user', required: true }),
  };
  static override flags = {
    until: holdEnd({
      description: 'end of the hold: a time, local unless it names a zone, or a duration from now',
      required: true,
    }),
    reason: requiredReason,
  };

  async run() {
    const { until, reason } = this.flags;
    const { id, mode, hold } = await this.api.users.show.query({ user: this.args.user, reason });
    const before = hold ? `, instead of ${localTime(hold.until)}` : '';
    const consequence = `Nothing of the ${mode} user ${id} is erased or expires until ${localTime(until)}${before}, also if the user asks for it.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.users.hold.mutate({ userId: id, until, reason })),
    );
  }
}
