import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { readProfiles, writeProfiles } from '../../connection/profiles.ts';
import type { ConnectionSource } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { locateService } from '../connection.ts';
import { awaitToken, createDeviceEndpoints } from '../device-flow.ts';

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

  #source: ConnectionSource | undefined;

  protected override get connectionSource(): ConnectionSource {
    return this.#source ?? super.connectionSource;
  }

  async run() {
    const { profile: name } = this.flags;
    const { configDir } = this.config;
    const ofProfile = readProfiles(configDir).profiles[name]?.url;
    const asked = this.serverFlag ?? (process.env['SVC_BASE_URL'] ? undefined : ofProfile);
    const { url, urlFrom, kept } = locateService({ flags: { url: asked }, env: process.env, configDir });
    this.#source = { url, urlFrom, program: 'svc' };
    const ca = this.caFlag ?? kept.profiles[name]?.ca;
    const endpoints = createDeviceEndpoints({ url, ca });
    const started = await endpoints.start(this.flags.name.slice(0, 64));
    this.notice(`Open ${started.verification_uri} in a browser, and type this code there:`);
    this.notice(`\n  ${started.user_code}\n`);
    this.notice(`Waiting until you confirm it, ${started.expires_in / 60} minutes at most; Ctrl-C ends.`);
    const token = await awaitToken(endpoints, started);
    const login = await endpoints.show(token);
    const { environment, partnerId } = login;
    this.learnEnvironment(environment);
    writeProfiles(configDir, {
      current: name,
      profiles: {
        ...kept.profiles,
        [name]: { url, token, environment, partnerId, ...(ca ? { ca: resolve(ca) } : {}) },
      },
    });
    return this.one({ profile: name, url, ...login });
  }
}
