import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class EnrollmentsShow extends AdminCommand<typeof EnrollmentsShow> {
  static override summary = 'Show an enrollment.';
  static override examples = ['<%= config.bin %> enrollments show enr_…'];
  static override args = { enrollment: Args.string({ description: 'id of the enrollment', required: true }) };

  async run() {
    const api = await this.api();
    return this.one(await api.enrollments.show.query({ enrollmentId: this.args.enrollment }));
  }
}
