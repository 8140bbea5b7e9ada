import { readReason } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class EnrollmentsShow extends AdminCommand<typeof EnrollmentsShow> {
  static override summary = 'Show an enrollment.';
  static override description = 'The audit log keeps who read the subject. For the role ops, it is masked.';
  static override examples = ['<%= config.bin %> enrollments show enr_…'];
  static override args = {
    enrollment: idArg('enrollment')({ description: 'id of the enrollment', required: true }),
  };
  static override flags = { reason: readReason };

  async run() {
    const { enrollment: enrollmentId } = this.args;
    return this.showRecord(
      await this.readPersonalData((auditReason) =>
        this.api.enrollments.show.query({ enrollmentId, ...auditReason }),
      ),
    );
  }
}
