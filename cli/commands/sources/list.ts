import type { SourceView } from '../../../contracts/admin/sources.ts';
import { listFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

/** Writes the success of a source, such as `93 % of 120`; null if no session has ended. */
function successOf(lastDay: SourceView['lastDay']): string | null {
  const { authenticated, failed } = lastDay ?? { authenticated: 0, failed: 0 };
  const all = authenticated + failed;
  return all === 0 ? null : `${Math.floor((100 * authenticated) / all)} % of ${all}`;
}

export default class SourcesList extends ListCommand<typeof SourcesList> {
  static override summary =
    'List verification sources, with their faults and their success in the last 24 hours.';
  static override examples = ['<%= config.bin %> sources list'];

  static override flags = listFlags;

  async run() {
    const sources = await this.api.sources.list.query();
    const rows = sources.map((source) => {
      const [firstExpiry = null] = source.certificates.map(({ notAfter }) => notAfter).toSorted();
      return { ...source, success: successOf(source.lastDay), expires: firstExpiry };
    });
    return this.showList({
      page: async () => rows,
      fields: async () => Object.keys((await import('../../../contracts/admin/sources.ts')).SourceView.shape),
      columns: ['name', 'kind', 'modes', 'success', 'fault', 'expires'],
    });
  }
}
