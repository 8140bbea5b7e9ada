import { listFlags } from '../../flags.ts';
import { ListCommand } from '../../list-command.ts';
import { readProfiles } from '../../profiles.ts';

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
    return this.list({ page: async () => rows, columns: ['name', 'url', 'environment', 'current'] });
  }
}
