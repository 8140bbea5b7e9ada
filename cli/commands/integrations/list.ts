import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, modeFilter, pageFlags } from '../../flags.ts';

export default class IntegrationsList extends AdminCommand<typeof IntegrationsList> {
  static override summary = 'List storefront integrations, newest first.';
  static override examples = ['<%= config.bin %> integrations list --partner ptr_…'];
  static override flags = {
    partner: Flags.string({ description: 'only of this partner' }),
    client: Flags.string({ description: 'only of this client' }),
    mode: modeFilter,
    status: Flags.option({ options: ['active', 'disabled'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { partner, client, mode, status, limit, after } = this.flags;
    const wanted = given({ partnerId: partner, clientId: client, mode, status, limit, after });
    const api = await this.api();
    return this.many(
      await api.integrations.list.query(wanted),
      ['id', 'clientId', 'mode', 'status', 'shops'],
      ['clientId'],
    );
  }
}
