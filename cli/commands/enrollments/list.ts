import * as Flags from '@oclif/core/flags';
import { pageFlags, readReason } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class EnrollmentsList extends ListCommand<typeof EnrollmentsList> {
  static override summary = 'List the enrollments of a partner, or those that are blocked, newest first.';
  static override description =
    'The audit log keeps who read the subjects. For the role ops, they are masked.';
  static override examples = [
    '<%= config.bin %> enrollments list --partner ptr_… --sub SUB',
    '<%= config.bin %> enrollments list --status blocked',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner; needed without --status blocked' }),
    status: Flags.option({ options: ['active', 'blocked'] as const })({ description: 'only these' }),
    sub: Flags.string({ description: 'only of this subject' }),
    reason: readReason,
    ...pageFlags,
  };

  async run() {
    const { partner, sub, status } = this.flags;
    const wanted = { partnerId: partner, sub, status };
    return this.showList({
      page: (page) =>
        this.readPersonalData((auditReason) =>
          this.api.enrollments.list.query({ ...wanted, ...page, ...auditReason }),
        ),
      count: () => this.api.enrollments.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/enrollments.ts')).ListedEnrollment.shape),
      columns: [
        'id',
        'mode',
        'status',
        'blockReason',
        ...(partner ? [] : (['partnerId', 'partnerName'] as const)),
        'clientId',
        'sub',
        'createdAt',
      ],
      dropIfNarrow: ['partnerId', 'clientId', 'createdAt', 'blockReason'],
    });
  }
}
