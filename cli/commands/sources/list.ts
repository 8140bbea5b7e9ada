import { AdminCommand } from '../../base-command.ts';

export default class SourcesList extends AdminCommand<typeof SourcesList> {
  static override summary = 'List verification sources, with their faults.';
  static override examples = ['<%= config.bin %> sources list'];

  async run() {
    const api = await this.api();
    const sources = await api.sources.list.query();
    const rows = sources.map((source) => ({
      ...source,
      expires: source.certificates.map(({ notAfter }) => notAfter).sort()[0] ?? null,
    }));
    return this.many(rows, ['name', 'kind', 'modes', 'fault', 'expires']);
  }
}
