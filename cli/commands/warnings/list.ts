import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class WarningsList extends ListCommand<typeof WarningsList> {
  static override summary = 'List warnings to partners, newest first.';
  static override description =
    'A low balance, an endpoint that fails, an old secret that ends and is in use, a spend cap that is reached. Those that are over are kept for 30 days.';
  static override examples = ['<%= config.bin %> warnings list --partner ptr_… --state raised'];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    state: Flags.option({ options: ['raised', 'over'] as const })({ description: 'only these' }),
    ...pageFlags,
  };

  async run() {
    const wanted = { partnerId: this.flags.partner, state: this.flags.state };
    return this.showList({
      page: (page) => this.api.warnings.list.query({ ...wanted, ...page }),
      count: () => this.api.warnings.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/warnings.ts')).ListedWarning.shape),
      columns: ['since', 'state', 'kind', 'partnerId', 'partnerName', 'mode', 'about', 'text'],
      dropIfNarrow: ['partnerId', 'about', 'mode'],
    });
  }
}
