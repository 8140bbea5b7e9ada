import { Flags } from '@oclif/core';
import { pageFlags, readReason } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class EnrollmentsList extends ListCommand<typeof EnrollmentsList> {
  static override summary = 'List the enrollments of a partner, newest first.';
  static override description =
    'The audit log keeps who read the subjects. For the role ops, they are masked.';
  static override examples = ['<%= config.bin %> enrollments list --partner ptr_… --sub SUB'];
  static override flags = {
    partner: Flags.string({ description: 'id of the partner', required: true }),
    sub: Flags.string({ description: 'only of this subject' }),
    reason: readReason,
    ...pageFlags,
  };

  async run() {
    const { partner, sub } = this.flags;
    const wanted = { partnerId: partner, sub };
    return this.showList({
      page: (page) =>
        this.readPersonalData((auditReason) =>
          this.api.enrollments.list.query({ ...wanted, ...page, ...auditReason }),
        ),
      count: () => this.api.enrollments.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/enrollments.ts')).EnrollmentView.shape),
      columns: ['id', 'mode', 'status', 'blockReason', 'clientId', 'sub', 'createdAt'],
      dropIfNarrow: ['clientId', 'createdAt', 'blockReason'],
    });
  }
}
