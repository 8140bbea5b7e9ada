import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class EnrollmentsUnblock extends AdminCommand<typeof EnrollmentsUnblock> {
  static override summary = 'Unblock an enrollment.';
  static override examples = ['<%= config.bin %> enrollments unblock enr_…'];
  static override args = {
    enrollment: idArg('enrollment')({ description: 'id of the enrollment', required: true }),
  };

  async run() {
    return this.showRecord(await this.api.enrollments.unblock.mutate({ enrollmentId: this.args.enrollment }));
  }
}
