import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags } from '../../flags.ts';

export default class EnrollmentsList extends AdminCommand<typeof EnrollmentsList> {
  static override summary = 'List the enrollments of a partner, newest first.';
  static override examples = ['<%= config.bin %> enrollments list --partner ptr_… --sub SUB'];
  static override flags = {
    partner: Flags.string({ description: 'id of the partner', required: true }),
    sub: Flags.string({ description: 'only of this subject' }),
    ...pageFlags,
  };

  async run() {
    const { partner, sub, limit, after } = this.flags;
    const api = await this.api();
    const found = await api.enrollments.list.query({ partnerId: partner, ...given({ sub, limit, after }) });
    return this.many(
      found,
      ['id', 'mode', 'status', 'blockReason', 'clientId', 'sub', 'createdAt'],
      ['clientId', 'createdAt', 'blockReason'],
    );
  }
}
