import { pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class UsersHolds extends ListCommand<typeof UsersHolds> {
  static override summary = 'List the users under a legal hold, the one that ends first at the top.';
  static override description =
    'Lists who set the present hold, when and why. `users hold` sets or replaces one, and `users release` ends it.';
  static override examples = [
    '<%= config.bin %> users holds',
    "<%= config.bin %> users holds --where 'until<+30d' --csv",
  ];
  static override flags = pageFlags;

  async run() {
    return this.showList({
      page: (page) => this.api.users.holds.query(page),
      fields: async () => Object.keys((await import('../../../contracts/admin/users.ts')).ListedHold.shape),
      columns: ['id', 'mode', 'until', 'since', 'operatorName', 'reason'],
      dropIfNarrow: ['since', 'operatorName'],
    });
  }
}
