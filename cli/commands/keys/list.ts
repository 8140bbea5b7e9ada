import * as Flags from '@oclif/core/flags';
import { modeFilter, moment, pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';
import { oldSecretUntil } from '../../list/old-secrets.ts';

export default class KeysList extends ListCommand<typeof KeysList> {
  static override summary = 'List API keys, newest first.';
  static override description =
    'The column `oldSecretUntil` is not shown by default. It holds the time until which a replaced secret still works. Use it with --columns or --where. `lastUsedAt` is of calls with the key itself; --unused-since also counts calls of its clients and integrations, and events that it signed.';
  static override examples = [
    '<%= config.bin %> keys list --partner ptr_… --mode live',
    '<%= config.bin %> keys list --status active --unused-since 30d',
    '<%= config.bin %> keys list --where oldSecretUntil!=',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    mode: modeFilter,
    status: Flags.option({ options: ['active', 'revoked'] as const })({ description: 'only these' }),
    'unused-since': moment({
      description: 'only keys made before this time and not used since, nor their clients or webhooks',
    }),
    ...pageFlags,
  };

  async run() {
    const { partner, mode, status, 'unused-since': unusedSince } = this.flags;
    const wanted = { partnerId: partner, mode, status, unusedSince };
    return this.showList({
      page: (page) => this.api.keys.list.query({ ...wanted, ...page }),
      count: () => this.api.keys.count.query(wanted),
      show: (key) => ({ ...key, oldSecretUntil: oldSecretUntil(key.oldSecrets) }),
      fields: async () => [
        ...Object.keys((await import('../../../contracts/admin/keys.ts')).ListedKey.shape),
        'oldSecretUntil',
      ],
      columns: [
        'id',
        'partnerId',
        'partnerName',
        'mode',
        'status',
        'last4',
        'lastUsedAt',
        'webhookUrl',
        'createdAt',
      ],
      // In the list of one partner, the partner is the same in every row.
      dropIfNarrow: [...columnsSameFor(partner), 'partnerId', 'createdAt'],
    });
  }
}
