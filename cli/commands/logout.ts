import { readProfiles, writeProfiles } from '../connection/profiles.ts';
import { usageError } from '../errors/failure.ts';
import { AdminCommand } from '../program/base-command.ts';

export default class Logout extends AdminCommand<typeof Logout> {
  static override summary = 'Delete a profile and its token from this machine.';
  static override description = 'The token stays valid until `operators revoke`.';
  static override examples = ['<%= config.bin %> logout --profile live'];

  async run() {
    const { configDir } = this.config;
    const { current, profiles } = readProfiles(configDir);
    const name = this.profileFlag ?? current;
    if (name === undefined || !profiles[name])
      throw usageError(`Not signed in${name ? ` as profile ${name}` : ''}`);
    const { [name]: _forgotten, ...rest } = profiles;
    writeProfiles(configDir, {
      ...(current !== undefined && current !== name && { current }),
      profiles: rest,
    });
    return this.one({ forgotten: name });
  }
}
