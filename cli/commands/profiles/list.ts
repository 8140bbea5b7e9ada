import { readProfiles } from '../../connection/profiles.ts';
import { listFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class ProfilesList extends ListCommand<typeof ProfilesList> {
  static override summary = 'List the profiles, without their tokens.';
  static override examples = ['<%= config.bin %> profiles list'];

  static override flags = listFlags;

  async run() {
    const { current, profiles } = readProfiles(this.config.configDir);
    const rows = Object.entries(profiles).map(([name, { url, environment }]) => ({
      name,
      url,
      environment,
      current: name === current,
    }));
    return this.showList({
      page: async () => rows,
      fields: async () => [],
      columns: ['name', 'url', 'environment', 'current'],
    });
  }
}
