import { type Profile, readProfiles, withoutProfile, writeProfiles } from '../../connection/profiles.ts';
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
    const stored = readProfiles(configDir);
    const name = this.connectionFlags.profile ?? stored.current;
    const profile = name === undefined ? undefined : stored.profiles[name];
    if (name === undefined || !profile) throw usageError(`Not signed in${name ? ` as profile ${name}` : ''}`);
    writeProfiles(configDir, withoutProfile(stored, name));
    return this.showRecord({ forgotten: name, ended: await this.#endLogin(profile) });
  }

  /** Ends the login at the server. @returns whether the login has ended */
  async #endLogin({ url, token, ca }: Profile): Promise<boolean> {
    const endpoints = createDeviceEndpoints({ url, ca: this.connectionFlags.ca ?? ca });
    try {
      await endpoints.end(token);
      return true;
    } catch (error) {
      const { code, message } = toFailure(error, { url, program: 'svc' });
      // The server knows no such login any more: it has ended or expired.
      if (code === 'unauthorized') return true;
      this.writeNotice(`${message}. End the login at ${url}/portal/devices.`);
      return false;
    }
  }
}
