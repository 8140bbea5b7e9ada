import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, modeFilter, pageFlags } from '../../flags.ts';

export default class KeysList extends AdminCommand<typeof KeysList> {
  static override summary = 'List API keys, newest first.';
  static override examples = ['<%= config.bin %> keys list --partner ptr_… --mode live'];
  static override flags = {
    partner: Flags.string({ description: 'only of this partner' }),
    mode: modeFilter,
    status: Flags.option({ options: ['active', 'revoked'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { partner, mode, status, limit, after } = this.flags;
    const api = await this.api();
    const keys = await api.keys.list.query(given({ partnerId: partner, mode, status, limit, after }));
    return this.many(
      keys,
      ['id', 'partnerId', 'mode', 'status', 'last4', 'webhookUrl', 'createdAt'],
      // In the list of one partner, the partner's column is left out.
      partner ? ['partnerId', 'createdAt'] : ['createdAt'],
    );
  }
}
