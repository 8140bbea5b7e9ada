import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags, readReason } from '../../flags.ts';

export default class EnrollmentsList extends AdminCommand<typeof EnrollmentsList> {
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
    const { partner, sub, limit, after } = this.flags;
    const api = await this.api();
    const wanted = { partnerId: partner, ...given({ sub, limit, after }) };
    const found = await this.reading((why) => api.enrollments.list.query({ ...wanted, ...why }));
    return this.many(
      found,
      ['id', 'mode', 'status', 'blockReason', 'clientId', 'sub', 'createdAt'],
      ['clientId', 'createdAt', 'blockReason'],
    );
  }
}
