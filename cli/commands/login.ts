import { resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { readVariables } from '../../contracts/settings.ts';
import { createAdminApi } from '../connection/client.ts';
import { defaultOrigin, locateServer } from '../connection/connection.ts';
import { readProfiles, withProfile, writeProfiles } from '../connection/profiles.ts';
import { usageError } from '../errors/failure.ts';
import { isInteractive } from '../output/terminal.ts';
import { AdminCommand } from '../program/base-command.ts';
import { readStdin, typeHidden } from '../secrets/input.ts';

/** Checks the address before a token is asked for. @throws CommandError exit 7 if no admin API answers there */
async function requireAdminApi(url: string, ca: string | undefined): Promise<void> {
  try {
    await createAdminApi({ url, token: '', ca }).operators.whoami.query();
  } catch (error) {
    const { data } = error as { data?: { error?: unknown } };
    // An admin API refuses the empty token with this code. Any other error shows that there is none.
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

  async run() {
    const { profile: name, 'token-stdin': fromStdin } = this.flags;
    const { configDir } = this.config;
    const stored = readProfiles(configDir);
    const previous = stored.profiles[name];
    const { url, urlFrom } = this.#locate(previous?.url);
    if (!fromStdin && !isInteractive())
      throw usageError(
        'The token cannot be asked for here, without a terminal: pipe it in with --token-stdin',
      );
    // Errors from here on name the address, and where the token comes from.
    this.loginSource = { url, urlFrom, tokenFrom: fromStdin ? 'stdin' : 'what was typed' };
    const ca = this.flags.ca ?? readVariables(process.env)['SVCADMIN_CA'] ?? previous?.ca;
    await requireAdminApi(url, ca);
    const token = (fromStdin ? await readStdin() : await typeHidden(`Operator token for ${url}`)).trim();
    if (!token) throw usageError('No token was given');
    const api = createAdminApi({ url, token, ca });
    const [identity, { environment }] = await Promise.all([api.operators.whoami.query(), api.status.query()]);
    this.learnEnvironment(environment);
    // Later commands may run in another directory, so the path is stored in full.
    const profile = { url, token, environment, ca: ca && resolve(ca) };
    writeProfiles(configDir, withProfile(stored, name, profile));
    const shown = this.showRecord({ profile: name, url, environment, ...identity });
    if (!this.jsonEnabled()) this.writeNotice(this.#describeOrder(name, stored.current));
    return shown;
  }

  /** Says which server commands call from now on. The new profile becomes the current one, in place of another or of a directory. */
  #describeOrder(name: string, before: string | undefined): string {
    const { SVCADMIN_URL: url, SVC_DATA_DIR: directory } = readVariables(process.env);
    if (url !== undefined) return `Commands call ${url} (SVCADMIN_URL) unless --profile ${name} is given.`;
    const replaced = [
      ...(before === undefined || before === name ? [] : [`the profile ${before}`]),
      ...(directory === undefined ? [] : [`the server of SVC_DATA_DIR (${directory})`]),
    ];
    const inPlace = replaced.length === 0 ? '' : `, and not ${replaced.join(' or ')}`;
    return `Commands use the profile ${name} from now on${inPlace}.`;
  }

  /**
   * Finds the address of the server.
   * @param previousUrl the address of the profile, if it is replaced
   * @throws CommandError usage if the address is of a found directory, because another user may have put it there
   */
  #locate(previousUrl: string | undefined) {
    const { url, urlFrom, isFromFoundDirectory, ignored } = locateServer({
      flags: { url: this.flags.url ?? previousUrl },
      env: readVariables(process.env),
      configDir: this.config.configDir,
      cwd: process.cwd(),
      warn: (text) => this.writeNotice(text),
    });
    if (urlFrom === defaultOrigin) for (const sentence of ignored) this.writeNotice(sentence);
    if (isFromFoundDirectory)
      throw usageError(
        `${url} was found in ${urlFrom}, and needs no sign-in from here`,
        `To send a token to it all the same: svcadmin login --url ${url}`,
      );
    return { url, urlFrom };
  }
}
