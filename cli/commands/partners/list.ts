import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';
import { refuseSecret } from '../../secrets/input.ts';

export default class PartnersList extends ListCommand<typeof PartnersList> {
  static override summary = 'List partners, newest first, or search them.';
  static override description =
    '--search matches a part of the name or of the host of a redirect URI. It also matches the beginning of an id of a client, API key or integration, and the last four characters of a secret.';
  static override examples = [
    '<%= config.bin %> partners list --status pending',
    '<%= config.bin %> partners list --search cinema',
  ];
  static override flags = {
    status: Flags.option({ options: ['pending', 'active', 'suspended', 'closed'] as const })({
      description: 'only these',
    }),
    search: Flags.string({ description: 'only partners that match this text', helpValue: 'TEXT' }),
    ...pageFlags,
  };

  async run() {
    const { status, search } = this.flags;
    if (search !== undefined) refuseSecret(search);
    const wanted = { status };
    const columns = ['id', 'name', 'status', 'createdAt'] as const;
    if (search !== undefined) {
      return this.showList({
        page: (page) => this.api.partners.search.query({ ...wanted, ...page, text: search }),
        fields: async () =>
          Object.keys((await import('../../../contracts/admin/partners.ts')).FoundPartner.shape),
        columns: [...columns, 'found'],
      });
    }
    return this.showList({
      page: (page) => this.api.partners.list.query({ ...wanted, ...page }),
      count: () => this.api.partners.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/partners.ts')).PartnerView.shape),
      columns,
    });
  }
}
