import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class EnrollmentsBlock extends AdminCommand<typeof EnrollmentsBlock> {
  static override summary = 'Block an enrollment: exchanges of its codes are refused.';
  static override examples = ['<%= config.bin %> enrollments block enr_… --reason "reported by the partner"'];
  static override args = { enrollment: Args.string({ description: 'id of the enrollment', required: true }) };
  static override flags = {
    reason: Flags.string({ description: 'why, for colleagues who look later', required: true }),
  };

  async run() {
    const api = await this.api();
    const wanted = { enrollmentId: this.args.enrollment, reason: this.flags.reason };
    return this.one(await api.enrollments.block.mutate(wanted));
  }
}
