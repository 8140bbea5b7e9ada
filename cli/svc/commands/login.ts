import { hostname } from 'node:os';
import { resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { readVariables } from '../../../contracts/settings.ts';
import { readProfiles, withProfile, writeProfiles } from '../../connection/profiles.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { locateService } from '../connection.ts';
import { awaitToken, createDeviceEndpoints, type DeviceEndpoints } from '../device-flow.ts';

/** The most characters of the name that the server accepts. The name of a computer may be longer. */
const longestName = 64;

export default class Login extends AdminCommand<typeof Login> {
  static override summary =
    'Sign in by a code that you confirm in the portal, and save the login as a profile.';
  static override description =
    'Shows a code and an address. Open the address in a browser, sign in with your passkey, and type the code. The login has the scope of your role, lasts 12 hours at most, and ends with `svc logout`, in the portal, or when your membership changes.';
  static override examples = [
    '<%= config.bin %> login --url https://verify.example',
    '<%= config.bin %> login',
  ];
  static override flags = {
    profile: Flags.string({ description: 'name of the profile', default: 'default' }),
    name: Flags.string({ description: 'name of this computer, as the portal shows it', default: hostname() }),
  };

  async run() {
    const { profile: name } = this.flags;
    const { configDir } = this.config;
    const stored = readProfiles(configDir);
    const previous = stored.profiles[name];
    // SVC_BASE_URL comes before the address of the profile. Without it, a repeated login goes to the same server as before.
    const env = readVariables(process.env);
    const previousUrl = env['SVC_BASE_URL'] ? undefined : previous?.url;
    const flags = { url: this.flags.url ?? previousUrl };
    const { url, urlFrom } = locateService({ flags, env, configDir });
    // Errors from here on name this address.
    this.loginSource = { url, urlFrom, program: 'svc' };
    const ca = this.flags.ca ?? previous?.ca;
    const endpoints = createDeviceEndpoints({ url, ca });
    const token = await this.#requestToken(endpoints);
    const login = await endpoints.show(token);
    const { environment, partnerId } = login;
    this.learnEnvironment(environment);
    // Later commands may run in another directory, so the path is stored in full.
    const profile = { url, token, environment, partnerId, ca: ca && resolve(ca) };
    writeProfiles(configDir, withProfile(stored, name, profile));
    return this.showRecord({ profile: name, url, ...login });
  }

  /** Shows a code, and waits until the member has confirmed it in the portal. */
  async #requestToken(endpoints: DeviceEndpoints): Promise<string> {
    const started = await endpoints.start(this.flags.name.slice(0, longestName));
    this.writeNotice(`Open ${started.verification_uri} in a browser, and type this code there:`);
    this.writeNotice(`\n  ${started.user_code}\n`);
    this.writeNotice(
      `Waiting until you confirm it, ${started.expires_in / 60} minutes at most; Ctrl-C ends.`,
    );
    return awaitToken(endpoints, started);
  }
}
