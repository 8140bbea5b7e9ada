import * as Flags from '@oclif/core/flags';
import type { Mode } from '../../../contracts/identifiers.ts';
import { modeFilter, pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';
import { oldSecretUntil } from '../../list/old-secrets.ts';

/** The source of a client without a setting. A live client has none. */
const defaultSource = ({ mode }: { mode: Mode }): string | null => (mode === 'test' ? 'sandbox' : null);

export default class ClientsList extends ListCommand<typeof ClientsList> {
  static override summary = 'List clients, newest first.';
  static override description =
    'The column `oldSecretUntil` is not shown by default. It holds the time until which a replaced secret still works. Use it with --columns or --where.';
  static override examples = [
    '<%= config.bin %> clients list --partner ptr_…',
    '<%= config.bin %> clients list --where oldSecretUntil!=',
    '<%= config.bin %> clients list --where source=sandbox',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    key: idFlag('apiKey')({ description: 'only of this API key' }),
    mode: modeFilter,
    kind: Flags.option({ options: ['oauth', 'storefront'] as const })({ description: 'only these' }),
    status: Flags.option({ options: ['active', 'disabled'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const { partner, key, mode, kind, status } = this.flags;
    const wanted = { partnerId: partner, keyId: key, mode, kind, status };
    return this.showList({
      page: (page) => this.api.clients.list.query({ ...wanted, ...page }),
      count: () => this.api.clients.count.query(wanted),
      show: (client) => ({
        ...client,
        source: client.source ?? defaultSource(client),
        oldSecretUntil: oldSecretUntil(client.secrets),
      }),
      fields: async () => [
        ...Object.keys((await import('../../../contracts/admin/clients.ts')).ListedClient.shape),
        'oldSecretUntil',
      ],
      columns: ['id', 'name', 'partnerName', 'mode', 'kind', 'status', 'keyId', 'claims'],
      // In the list of one partner, its name is the same in every row.
      dropIfNarrow: [...columnsSameFor(partner), 'keyId', 'kind', 'claims'],
    });
  }
}
