import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class EnrollmentsBlock extends CarefulCommand<typeof EnrollmentsBlock> {
  static override summary = 'Block an enrollment: exchanges of its codes are refused.';
  static override examples = ['<%= config.bin %> enrollments block enr_… --reason "reported by the partner"'];
  static override args = {
    enrollment: idArg('enrollment')({ description: 'id of the enrollment', required: true }),
  };
  static override flags = {
    reason: Flags.string({ description: 'reason, for other operators', required: true }),
  };

  async run() {
    const { reason } = this.flags;
    // The server demands a reason for this read too, because the record has personal data.
    const found = await this.api.enrollments.show.query({ enrollmentId: this.args.enrollment, reason });
    const { id, mode, clientId, sub } = found;
    const consequence = `The ${mode} user ${sub} is refused at ${clientId} until ${id} is unblocked: exchanges of its codes get 403.`;
    return this.runConfirmed(
      { id, consequence, isLive: mode === 'live', confirm: 'only-live-at-terminal' },
      async () => this.showRecord(await this.api.enrollments.block.mutate({ enrollmentId: id, reason })),
    );
  }
}
