import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, modeFilter, pageFlags } from '../../flags.ts';

export default class ClientsList extends AdminCommand<typeof ClientsList> {
  static override summary = 'List clients, newest first.';
  static override examples = ['<%= config.bin %> clients list --partner ptr_…'];
  static override flags = {
    partner: Flags.string({ description: 'only of this partner' }),
    key: Flags.string({ description: 'only of this API key' }),
    mode: modeFilter,
    kind: Flags.option({ options: ['oauth', 'storefront'] as const })({ description: 'only these' }),
    status: Flags.option({ options: ['active', 'disabled'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { partner, key, mode, kind, status, limit, after } = this.flags;
    const wanted = given({ partnerId: partner, keyId: key, mode, kind, status, limit, after });
    const api = await this.api();
    return this.many(
      await api.clients.list.query(wanted),
      ['id', 'name', 'mode', 'kind', 'status', 'keyId', 'claims'],
      ['keyId', 'kind', 'claims'],
    );
  }
}
