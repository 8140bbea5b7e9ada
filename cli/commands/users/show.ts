import { readReason } from '../../flags/flags.ts';
import { userArg } from '../../flags/ids.ts';
import { formatValue, localTime } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class UsersShow extends AdminCommand<typeof UsersShow> {
  static override summary = 'Show all data of a user: claims, enrollments and passkeys.';
  static override description = 'The audit log keeps who read them.';
  static override examples = ['<%= config.bin %> users show SUB', '<%= config.bin %> users show enr_…'];
  static override args = {
    user: userArg({ description: 'sub, or id of an enrollment or of the user', required: true }),
  };
  static override flags = { reason: readReason };

  async run() {
    const user = await this.readPersonalData((auditReason) =>
      this.api.users.show.query({ user: this.args.user, ...auditReason }),
    );
    const { claims, enrollments, passkeys, ...rest } = user;
    this.showRecord(rest);
    for (const { name, value, evaluatedAt, fresh, keptUntil } of claims) {
      const age = `evaluated ${localTime(evaluatedAt)}${fresh ? '' : ', no longer fresh'}, kept until ${localTime(keptUntil)}`;
      this.log(`  ${name} = ${formatValue(name, value)}  ${age}`);
    }
    for (const { id, clientId, sub, status } of enrollments)
      this.log(`  ${id}  ${clientId}  ${status}  sub ${sub}`);
    for (const { id, createdAt, lastUsedAt, synced } of passkeys) {
      const used = lastUsedAt ? `last used ${localTime(lastUsedAt)}` : 'not used yet';
      this.log(`  ${id}  saved ${localTime(createdAt)}, ${used}${synced ? ', on several devices' : ''}`);
    }
    return user;
  }
}
