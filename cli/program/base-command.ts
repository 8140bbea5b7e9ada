import { Command, Flags, type Interfaces } from '@oclif/core';
import { answer } from '../careful/confirmation.ts';
import type { AdminApi } from '../connection/client.ts';
import { type Connection, connect } from '../connection/connection.ts';
import { CommandError, type ConnectionSource, toFailure } from '../errors/failure.ts';
import { formatValue, label, localTime } from '../output/format.ts';
import { renderListing } from '../output/listing.ts';
import { renderFields } from '../output/table.ts';
import { isInteractive, liveNotice } from '../output/terminal.ts';
import { waitingOn } from '../output/waiting.ts';
import { openSecretFile } from '../secrets/file.ts';
import { connectAsMember } from '../svc/connection.ts';
import { inWordsOf, type ProgramName, programOf } from './program.ts';
import { suggestFlags, usageHint } from './usage.ts';

/** A command's own flag replaces a shared one of the same name. */
type FlagsOf<T extends typeof Command> = Interfaces.InferredFlags<
  Omit<(typeof AdminCommand)['baseFlags'], keyof T['flags']> & T['flags']
>;
type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;

/**
 * What every command of `svcadmin` and `svc` shares: `--json`, where the server is, and how values are shown. `run`
 * returns the value that `--json` prints; what it prints besides is for people.
 */
export abstract class AdminCommand<T extends typeof Command> extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = {
    url: Flags.string({
      description: 'address of the admin listener (SVCADMIN_URL)',
      aliases: ['server'],
      helpGroup: 'GLOBAL',
    }),
    profile: Flags.string({ description: 'profile of `svcadmin login` to use', helpGroup: 'GLOBAL' }),
    ca: Flags.file({
      description: 'file with a certificate authority to trust as well (SVCADMIN_CA)',
      helpGroup: 'GLOBAL',
    }),
  };

  /** Where a command of `svc` is given the partner that it does not ask for. */
  static impliesPartner: 'args' | 'flags' | undefined;

  protected flags!: FlagsOf<T>;
  protected args!: ArgsOf<T>;
  #connection: Connection | undefined;
  #warned = false;
  #environment: string | undefined;
  #reason: string | undefined;
  #isExpiryKnown = false;

  override async init(): Promise<void> {
    await super.init();
    const { args, flags } = await this.parse({
      flags: this.ctor.flags,
      baseFlags: (this.ctor as unknown as typeof AdminCommand).baseFlags,
      enableJsonFlag: this.ctor.enableJsonFlag,
      args: this.ctor.args,
      strict: this.ctor.strict,
    });
    this.flags = flags as unknown as FlagsOf<T>;
    this.args = args as unknown as ArgsOf<T>;
    const { impliesPartner } = this.ctor as unknown as typeof AdminCommand;
    if (impliesPartner) Object.assign(this[impliesPartner] as object, { partner: this.connection.partnerId });
  }

  protected get program(): ProgramName {
    return programOf(this.config.bin);
  }

  /** The address of the server as this command line gives it. */
  protected get serverFlag(): string | undefined {
    return (this.flags as { url?: string }).url;
  }

  protected get caFlag(): string | undefined {
    return (this.flags as { ca?: string }).ca;
  }

  protected get profileFlag(): string | undefined {
    return (this.flags as { profile?: string }).profile;
  }

  /** Address of the server and token of the operator. @throws CommandError without a token */
  protected get connection(): Connection {
    const flags = { url: this.serverFlag, profile: this.profileFlag, ca: this.caFlag };
    const { env } = process;
    const { configDir } = this.config;
    this.#connection ??=
      this.program === 'svc'
        ? connectAsMember({ flags, env, configDir })
        : connect({ flags, env, configDir, cwd: process.cwd(), warn: (text) => this.notice(text) });
    return this.#connection;
  }

  /** Where calls go, as far as it is known, for messages about them. */
  protected get connectionSource(): ConnectionSource {
    return this.#connection ?? { url: 'the server', program: this.program };
  }

  /** The admin API. Loaded here and not above: help and completion start without it. */
  protected async api(): Promise<AdminApi> {
    const { createAdminApi } = await import('../connection/client.ts');
    const { live, profileName } = this.connection;
    const mode = (this.flags as { mode?: string }).mode;
    if (live || mode === 'live') this.warnLive(live ? `profile ${profileName ?? ''}` : 'live mode');
    return createAdminApi(this.connection, {
      learn: (environment) => this.learnEnvironment(environment),
      tokenExpires: (at) => this.#warnOfExpiry(at),
      showWaiting: waitingOn(process.stderr),
    });
  }

  /** Once. Until it expires, the token works as before. */
  #warnOfExpiry(at: string): void {
    if (!this.#isExpiryKnown)
      this.notice(
        `Your operator token expires on ${localTime(at)}. Have an owner make another: svcadmin operators create`,
      );
    this.#isExpiryKnown = true;
  }

  /** Warns of a production server, however it was named: its first answer says what it is. */
  protected learnEnvironment(environment: string): void {
    this.#environment = environment;
    if (environment === 'production') this.warnLive(`${this.connectionSource.url} (production)`);
  }

  /** The environment of the server: as an answer named it, or else asked for. */
  protected async environment(): Promise<string> {
    this.#environment ??= this.connection.environment;
    if (this.#environment === undefined) {
      const { environment } = await (await this.api()).status.query();
      this.learnEnvironment(environment);
    }
    return this.#environment ?? '';
  }

  /** Warns once that the command affects live users or money. */
  protected warnLive(where: string): void {
    if (!this.#warned) this.notice(liveNotice(where));
    this.#warned = true;
  }

  /** For the person, never for the program: to stderr. */
  protected notice(text: string): void {
    process.stderr.write(`${inWordsOf(this.program, text)}\n`);
  }

  /** Shows one record as lines of `name  value`; only `fields` where given. */
  protected one<V extends object>(value: V, fields: readonly (keyof V & string)[] = keysOf(value)): V {
    for (const line of renderFields(fields.map((name) => [label(name), formatValue(name, value[name])])))
      this.log(line);
    return value;
  }

  /** Shows a list as a table of `columns`, of which those of `drop` go first where the terminal is narrow. */
  protected many<V extends object>(
    values: V[],
    columns: readonly (keyof V & string)[],
    drop: readonly (keyof V & string)[] = [],
  ): V[] {
    if (values.length === 0) {
      if (!this.jsonEnabled()) this.notice('Nothing found.');
      return values;
    }
    const width = process.stdout.isTTY ? process.stdout.columns : undefined;
    const { lines, leftOut } = renderListing(values, { columns, drop, width });
    for (const line of lines) this.log(line);
    if (leftOut.length > 0 && !this.jsonEnabled())
      this.notice(`No room for: ${leftOut.join(', ')}. --json shows all.`);
    return values;
  }

  /**
   * Makes something that has a secret, and shows it: the secret once, here, or in the file of --out-file alone.
   * @param field the name of the secret in the value
   */
  protected async withSecret<V extends object, F extends keyof V & string>(field: F, make: () => Promise<V>) {
    const path = (this.flags as { 'out-file'?: string })['out-file'];
    const file = path === undefined ? undefined : openSecretFile(path);
    const value = await make().catch((error: unknown) => {
      file?.discard();
      throw error;
    });
    const { [field]: secret, ...rest } = value;
    if (file) {
      file.write(String(secret));
      return this.one({ ...rest, outFile: file.path });
    }
    this.one(value);
    if (!this.jsonEnabled()) this.notice(`${label(field)}: shown only now, so keep it.`);
    return value;
  }

  /**
   * Reads personal data. Where the server needs a reason, and none was given, asks the person at the terminal for it.
   * @param read gets the reason of --reason, where there is one
   */
  protected async reading<V>(read: (given: { reason?: string }) => Promise<V>): Promise<V> {
    const { reason = this.#reason } = this.flags as { reason?: string };
    try {
      return await read(reason === undefined ? {} : { reason });
    } catch (error) {
      const { code } = toFailure(error, this.connectionSource);
      if (code !== 'reason_required' || !isInteractive()) throw error;
      const { input } = await import('@inquirer/prompts');
      const message = 'These are data of a live user. Why do you read them? The audit log keeps it:';
      this.#reason = await answer(input({ message }, { output: process.stderr }));
      return read({ reason: this.#reason });
    }
  }

  protected override async catch(error: Error): Promise<never> {
    // Exits without an error, such as that of --help, pass.
    if ((error as { code?: string }).code === 'EEXIT') throw error;
    const failure = toFailure(error, this.connectionSource);
    if (failure.code !== 'usage') throw new CommandError(failure);
    const message = `${failure.message}${suggestFlags(error, this.ctor)}`;
    throw new CommandError({ hint: usageHint(this.config.bin, this.ctor), ...failure, message });
  }
}

function keysOf<V extends object>(value: V): (keyof V & string)[] {
  return Object.keys(value) as (keyof V & string)[];
}
