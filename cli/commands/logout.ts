import { readProfiles, withoutProfile, writeProfiles } from '../connection/profiles.ts';
import { usageError } from '../errors/failure.ts';
import { AdminCommand } from '../program/base-command.ts';

export default class Logout extends AdminCommand<typeof Logout> {
  static override summary = 'Delete a profile and its token from this machine.';
  static override description = 'The token stays valid until `operators revoke`.';
  static override examples = ['<%= config.bin %> logout --profile live'];

  async run() {
    const { configDir } = this.config;
    const stored = readProfiles(configDir);
    const name = this.connectionFlags.profile ?? stored.current;
    if (name === undefined || !stored.profiles[name])
      throw usageError(`Not signed in${name ? ` as profile ${name}` : ''}`);
    writeProfiles(configDir, withoutProfile(stored, name));
    return this.showRecord({ forgotten: name });
  }
}
