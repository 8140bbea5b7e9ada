import { listFlags } from '../../flags.ts';
import { ListCommand } from '../../list-command.ts';

export default class SourcesList extends ListCommand<typeof SourcesList> {
  static override summary = 'List verification sources, with their faults.';
  static override examples = ['<%= config.bin %> sources list'];

  static override flags = listFlags;

  async run() {
    const api = await this.api();
    const sources = await api.sources.list.query();
    const rows = sources.map((source) => ({
      ...source,
      expires: source.certificates.map(({ notAfter }) => notAfter).sort()[0] ?? null,
    }));
    return this.list({ page: async () => rows, columns: ['name', 'kind', 'modes', 'fault', 'expires'] });
  }
}
