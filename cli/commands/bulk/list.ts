import { Flags } from '@oclif/core';
import { given, pageFlags } from '../../flags/flags.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class BulkList extends AdminCommand<typeof BulkList> {
  static override summary = 'List bulk jobs, newest first.';
  static override examples = ['<%= config.bin %> bulk list --status running'];
  static override flags = {
    status: Flags.option({ options: ['running', 'done', 'cancelled'] as const })({
      description: 'only these',
    }),
    ...pageFlags,
  };

  async run() {
    const { status, limit, after } = this.flags;
    const api = await this.api();
    const jobs = await api.bulk.list.query(given({ status, limit, after }));
    this.many(
      jobs,
      ['id', 'action', 'status', 'total', 'done', 'leftOut', 'operatorName', 'createdAt'],
      ['operatorName', 'leftOut'],
    );
    return jobs;
  }
}
