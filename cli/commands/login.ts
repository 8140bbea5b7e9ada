import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { createAdminApi } from '../connection/client.ts';
import { locateServer } from '../connection/connection.ts';
import { readProfiles, withProfile, writeProfiles } from '../connection/profiles.ts';
import { type ConnectionSource, usageError } from '../errors/failure.ts';
import { isInteractive } from '../output/terminal.ts';
import { AdminCommand } from '../program/base-command.ts';
import { readStdin, typeHidden } from '../secrets/input.ts';

/** Checks the address before a token is asked for. @throws CommandError exit 7 if no admin API answers there */
async function requireAdminApi(url: string, ca: string | undefined): Promise<void> {
  try {
    await createAdminApi({ url, token: '', ca }).operators.whoami.query();
  } catch (error) {
    const { data } = error as { data?: { error?: unknown } };
    if (data?.error !== 'operator_unknown') throw error;
  }
}

export default class Login extends AdminCommand<typeof Login> {
  static override summary = 'Sign in to a server, and save it as a profile.';
  static override description =
    'Asks for the token without showing it, and saves it in a file that only you can read.';
  static override examples = [
    '<%= config.bin %> login --url https://admin.example --profile live',
    '<%= config.bin %> login --token-stdin < token.txt',
  ];
  static override flags = {
    profile: Flags.string({ description: 'name of the profile', default: 'default' }),
    'token-stdin': Flags.boolean({ description: 'read the token from stdin' }),
  };

  #connectionSource: ConnectionSource | undefined;

  protected override get connectionSource(): ConnectionSource {
    return this.#connectionSource ?? super.connectionSource;
  }

  async run() {
    const { profile: name } = this.flags;
    const { configDir } = this.config;
    const kept = readProfiles(configDir);
    const { url, urlFrom, isFromFoundDirectory, ignored } = locateServer({
      flags: { url: this.serverFlag ?? kept.profiles[name]?.url },
      env: process.env,
      configDir,
      cwd: process.cwd(),
      warn: (text) => this.writeNotice(text),
    });
    if (urlFrom === 'the default') for (const sentence of ignored) this.writeNotice(sentence);
    if (isFromFoundDirectory)
      throw usageError(
        `${url} was found in ${urlFrom}, and needs no sign-in from here`,
        `To send a token to it all the same: svcadmin login --url ${url}`,
      );
    const fromStdin = this.flags['token-stdin'];
    if (!fromStdin && !isInteractive())
      throw usageError(
        'The token cannot be asked for here, without a terminal: pipe it in with --token-stdin',
      );
    this.#connectionSource = { url, urlFrom, tokenFrom: fromStdin ? 'stdin' : 'what was typed' };
    const ca = this.caFlag ?? (process.env['SVCADMIN_CA'] || kept.profiles[name]?.ca);
    await requireAdminApi(url, ca);
    const token = (fromStdin ? await readStdin() : await typeHidden(`Operator token for ${url}`)).trim();
    if (!token) throw usageError('No token was given');
    const api = createAdminApi({ url, token, ca });
    const [identity, { environment }] = await Promise.all([api.operators.whoami.query(), api.status.query()]);
    this.learnEnvironment(environment);
    const profile = { url, token, environment, ...(ca ? { ca: resolve(ca) } : {}) };
    writeProfiles(configDir, withProfile(kept, name, profile));
    return this.showRecord({ profile: name, url, environment, ...identity });
  }
}
