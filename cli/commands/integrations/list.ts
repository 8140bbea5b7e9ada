import * as Flags from '@oclif/core/flags';
import { modeFilter, pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';
import { oldSecretUntil } from '../../list/old-secrets.ts';

export default class IntegrationsList extends ListCommand<typeof IntegrationsList> {
  static override summary = 'List storefront integrations, newest first.';
  static override description =
    'The column `oldSecretUntil` is not shown by default. It holds the time until which a replaced secret still works. Use it with --columns or --where.';
  static override examples = [
    '<%= config.bin %> integrations list --partner ptr_…',
    '<%= config.bin %> integrations list --where oldSecretUntil!=',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    client: idFlag('client')({ description: 'only of this client' }),
    mode: modeFilter,
    status: Flags.option({ options: ['active', 'disabled'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { partner, client, mode, status } = this.flags;
    const wanted = { partnerId: partner, clientId: client, mode, status };
    return this.showList({
      page: (page) => this.api.integrations.list.query({ ...wanted, ...page }),
      count: () => this.api.integrations.count.query(wanted),
      show: (integration) => ({
        ...integration,
        oldSecretUntil: oldSecretUntil(integration.oldSecret ? [integration.oldSecret] : []),
      }),
      fields: async () => [
        ...Object.keys((await import('../../../contracts/admin/integrations.ts')).ListedIntegration.shape),
        'oldSecretUntil',
      ],
      columns: ['id', 'partnerName', 'clientId', 'mode', 'status', 'shops'],
      // In the list of one partner, its name is the same in every row.
      dropIfNarrow: [...columnsSameFor(partner), 'clientId'],
    });
  }
}
