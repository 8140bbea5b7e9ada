import { readProfiles, writeProfiles } from '../../connection/profiles.ts';
import { toFailure, usageError } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { createDeviceEndpoints } from '../device-flow.ts';

export default class Logout extends AdminCommand<typeof Logout> {
  static override summary = 'End the login at the server, and delete its profile from this machine.';
  static override description =
    'Where the server cannot be reached, the profile is deleted all the same, and the login ends in the portal or after 12 hours.';
  static override examples = ['<%= config.bin %> logout'];

  async run() {
    const { configDir } = this.config;
    const { current, profiles } = readProfiles(configDir);
    const name = this.profileFlag ?? current;
    const profile = name === undefined ? undefined : profiles[name];
    if (name === undefined || !profile) throw usageError(`Not signed in${name ? ` as profile ${name}` : ''}`);
    const { [name]: _forgotten, ...rest } = profiles;
    writeProfiles(configDir, {
      ...(current !== undefined && current !== name && { current }),
      profiles: rest,
    });
    const ended = await createDeviceEndpoints({ url: profile.url, ca: this.caFlag ?? profile.ca })
      .end(profile.token)
      .then(() => true)
      .catch((error: unknown) => {
        const { code, message } = toFailure(error, { url: profile.url, program: 'svc' });
        if (code === 'unauthorized') return true;
        this.notice(`${message}. End the login at ${profile.url}/portal/devices.`);
        return false;
      });
    return this.one({ forgotten: name, ended });
  }
}
