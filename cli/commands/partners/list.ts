import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags } from '../../flags.ts';

export default class PartnersList extends AdminCommand<typeof PartnersList> {
  static override summary = 'List partners, newest first.';
  static override examples = ['<%= config.bin %> partners list --status pending'];
  static override flags = {
    status: Flags.option({ options: ['pending', 'active', 'suspended'] as const })({
      description: 'only these',
    }),
    ...pageFlags,
  };

  async run() {
    const { status, limit, after } = this.flags;
    const api = await this.api();
    return this.many(await api.partners.list.query(given({ status, limit, after })), [
      'id',
      'name',
      'status',
      'createdAt',
    ]);
  }
}
