import { Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { given, pageFlags } from '../../flags.ts';
import { refuseSecret } from '../../searches.ts';

export default class PartnersList extends AdminCommand<typeof PartnersList> {
  static override summary = 'List partners, newest first, or search them.';
  static override description =
    '--search matches a part of the name or of the host of a redirect URI. It also matches the beginning of an id of a client, API key or integration, and the last four characters of an API key.';
  static override examples = [
    '<%= config.bin %> partners list --status pending',
    '<%= config.bin %> partners list --search cinema',
  ];
  static override flags = {
    status: Flags.option({ options: ['pending', 'active', 'suspended'] as const })({
      description: 'only these',
    }),
    search: Flags.string({ description: 'only partners that match this text', helpValue: 'TEXT' }),
    ...pageFlags,
  };

  async run() {
    const { status, search, limit, after } = this.flags;
    if (search !== undefined) refuseSecret(search);
    const api = await this.api();
    const wanted = given({ status, limit, after });
    const columns = ['id', 'name', 'status', 'createdAt'] as const;
    if (search === undefined) return this.many(await api.partners.list.query(wanted), columns);
    return this.many(await api.partners.search.query({ ...wanted, text: search }), [...columns, 'found']);
  }
}
