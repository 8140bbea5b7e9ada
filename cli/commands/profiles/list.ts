import { AdminCommand } from '../../base-command.ts';
import { readProfiles } from '../../profiles.ts';

export default class ProfilesList extends AdminCommand<typeof ProfilesList> {
  static override summary = 'List the profiles, without their tokens.';
  static override examples = ['<%= config.bin %> profiles list'];

  async run() {
    const { current, profiles } = readProfiles(this.config.configDir);
    const rows = Object.entries(profiles).map(([name, { url, environment }]) => ({
      name,
      url,
      environment,
      current: name === current,
    }));
    return this.many(rows, ['name', 'url', 'environment', 'current']);
  }
}
