import type { WaitingBrand } from '../../../contracts/admin/brands.ts';
import { describeChanges } from '../../careful/previews.ts';
import { pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

const show = ({ present, changes, ...brand }: WaitingBrand) => ({
  ...brand,
  changes: describeChanges(present, changes),
});

export default class BrandsList extends ListCommand<typeof BrandsList> {
  static override summary = 'List changes of live brands that wait for approval, the longest waiting first.';
  static override description =
    'Members of partners ask for a name, a colour, a purpose or a logo. Users see it in live mode after svcadmin brands approve. The id is that of the client, or of the partner for a logo.';
  static override examples = [
    '<%= config.bin %> brands list',
    '<%= config.bin %> brands list --partner ptr_…',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    ...pageFlags,
  };

  async run() {
    return this.showList({
      page: (page) => this.api.brands.list.query({ partnerId: this.flags.partner, ...page }),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/brands.ts')).WaitingBrand.shape),
      columns: ['id', 'partnerId', 'partnerName', 'changes', 'logoUrl', 'requestedAt', 'requestedBy'],
      dropIfNarrow: ['requestedBy', 'partnerName', 'partnerId'],
      show,
    });
  }
}
