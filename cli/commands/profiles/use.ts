import * as Args from '@oclif/core/args';
import { readProfiles, writeProfiles } from '../../connection/profiles.ts';
import { usageError } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class ProfilesUse extends AdminCommand<typeof ProfilesUse> {
  static override summary = 'Make a profile the default.';
  static override examples = ['<%= config.bin %> profiles use live'];
  static override args = { name: Args.string({ description: 'name of the profile', required: true }) };

  async run() {
    const { configDir } = this.config;
    const { profiles } = readProfiles(configDir);
    const { name } = this.args;
    const profile = profiles[name];
    if (!profile)
      throw usageError(`No profile ${name}; known: ${Object.keys(profiles).join(', ') || 'none'}`);
    writeProfiles(configDir, { current: name, profiles });
    return this.showRecord({ name, url: profile.url, environment: profile.environment });
  }
}
