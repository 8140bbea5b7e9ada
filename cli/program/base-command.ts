import type { Interfaces } from '@oclif/core';
import { Command } from '@oclif/core/command';
import * as Flags from '@oclif/core/flags';
import { ux } from '@oclif/core/ux';
import { readVariables } from '../../contracts/settings.ts';
import { readAnswer } from '../careful/confirmation.ts';
import { type AdminApi, createAdminApi } from '../connection/client.ts';
import { type Connection, type ConnectionFlags, connect } from '../connection/connection.ts';
import { CommandError, type ConnectionSource, toFailure, usageError } from '../errors/failure.ts';
import { nameFlags } from '../errors/flag-names.ts';
import { formatValue, label, localTime, printable, printableJson } from '../output/format.ts';
import { renderListing } from '../output/listing.ts';
import { renderFields } from '../output/table.ts';
import { isInteractive, liveNotice } from '../output/terminal.ts';
import { waitingOn } from '../output/waiting.ts';
import { makeWithSecretFile } from '../secrets/file.ts';
import type { ReadReason } from '../show/related.ts';
import { connectAsMember } from '../svc/connection.ts';
import { type ProgramName, programOf, rewordFor } from './program.ts';
import { suggestFlags, usageHint } from './usage.ts';

/** The flags of a command. A flag of the command replaces a shared flag with the same name. */
type FlagsOf<T extends typeof Command> = Interfaces.InferredFlags<
  Omit<(typeof AdminCommand)['baseFlags'], keyof T['flags']> & T['flags']
>;
type ArgsOf<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;

/**
 * The base of all commands of `svcadmin` and `svc`: `--json`, the address of the server, and the display of values. `run`
 * returns the value that `--json` prints. Everything else that it prints is for people.
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

  /** For commands of `svc`: whether the partner is passed as an argument or as a flag. Members do not type it. */
  static impliesPartner: 'args' | 'flags' | undefined;

  protected flags!: FlagsOf<T>;
  protected args!: ArgsOf<T>;
  /** The flags as the person typed them, such as `2h` for a time. */
  protected typed: Readonly<Record<string, string>> = {};
  #connection: Connection | undefined;
  #api: AdminApi | undefined;
  /** The address that a login calls, for error messages. A login has no connection. */
  protected loginSource: ConnectionSource | undefined;
  #environment: string | undefined;
  #reason: string | undefined;
  #hasWarnedLive = false;
  readonly #noticesWritten = new Set<string>();

  override async init(): Promise<void> {
    await super.init();
    const { args, flags, raw } = await this.#parseTyped();
    this.flags = flags as unknown as FlagsOf<T>;
    this.args = args as unknown as ArgsOf<T>;
    this.typed = Object.fromEntries(
      raw.flatMap((token) => (token.type === 'flag' ? [[token.flag, token.input]] : [])),
    );
    // A member belongs to one partner, which the login tells. So `svc` fills in what operators type.
    const { impliesPartner } = this.ctor as unknown as typeof AdminCommand;
    if (impliesPartner) Object.assign(this[impliesPartner] as object, { partner: this.connection.partnerId });
  }

  /** Parses what was typed. @throws CommandError or the error of oclif for wrong use, whatever a parser of a flag throws */
  async #parseTyped() {
    try {
      return await this.parse({
        flags: this.ctor.flags,
        baseFlags: (this.ctor as unknown as typeof AdminCommand).baseFlags,
        enableJsonFlag: this.ctor.enableJsonFlag,
        args: this.ctor.args,
        strict: this.ctor.strict,
      });
    } catch (error) {
      if (error instanceof CommandError || (error as { oclif?: object }).oclif) throw error;
      throw usageError((error as Error).message.replace(/^Parsing (\S+) \n\t(.*)\n.*$/s, '$1: $2'));
    }
  }

  protected get program(): ProgramName {
    return programOf(this.config.bin);
  }

  /** The flags that name the server. */
  protected get connectionFlags(): ConnectionFlags {
    return this.flags as ConnectionFlags;
  }

  /** The address of the server and the token. @throws CommandError if there is no token */
  protected get connection(): Connection {
    const flags = this.connectionFlags;
    const env = readVariables(process.env);
    const { configDir } = this.config;
    this.#connection ??=
      this.program === 'svc'
        ? connectAsMember({ flags, env, configDir })
        : connect({ flags, env, configDir, cwd: process.cwd(), warn: (text) => this.writeNotice(text) });
    return this.#connection;
  }

  /** The address that the command calls, and where the address was set, for error messages. */
  protected get connectionSource(): ConnectionSource {
    return this.loginSource ?? this.#connection ?? { url: 'the server', program: this.program };
  }

  /** The client of the admin API. Its first use warns if the calls affect live users or money. */
  protected get api(): AdminApi {
    this.#api ??= this.#createApi();
    return this.#api;
  }

  /**
   * Makes the client of the admin API before its first call. A command that first says something or creates a file calls this
   * before, so that it does neither without a token. @throws CommandError if there is no token
   */
  protected prepareApi(): void {
    void this.api;
  }

  /** Runs `act` with a client whose changes the server only checks. */
  protected async withDryRunApi(act: () => Promise<unknown>): Promise<void> {
    const api = this.api;
    this.#api = createAdminApi(
      { ...this.connection, isDryRun: true },
      { showWaiting: waitingOn(process.stderr) },
    );
    try {
      await act();
    } finally {
      this.#api = api;
    }
  }

  #createApi(): AdminApi {
    const { live, profileName } = this.connection;
    const { mode } = this.flags as { mode?: string };
    if (live || mode === 'live') this.warnLive(live ? `profile ${profileName ?? ''}` : 'live mode');
    return createAdminApi(this.connection, {
      onEnvironment: (environment) => this.learnEnvironment(environment),
      onTokenExpiry: (at) =>
        this.writeNoticeOnce(
          `Your operator token expires on ${localTime(at)}. Have an owner make another: svcadmin operators create`,
        ),
      showWaiting: waitingOn(process.stderr),
    });
  }

  /** Warns if the first response says that the server is a production server. */
  protected learnEnvironment(environment: string): void {
    this.#environment = environment;
    if (environment === 'production') this.warnLive(`${this.connectionSource.url} (production)`);
  }

  /** Returns the environment of the server, from an earlier response or by a request. */
  protected async readEnvironment(): Promise<string> {
    const knownEnvironment = this.#environment ?? this.connection.environment;
    if (knownEnvironment !== undefined) return knownEnvironment;
    const { environment } = await this.api.status.query();
    this.learnEnvironment(environment);
    return environment;
  }

  /** Warns once that the command affects live users or money. */
  protected warnLive(where: string): void {
    if (!this.#hasWarnedLive) process.stderr.write(`${liveNotice(printable(where))}\n`);
    this.#hasWarnedLive = true;
  }

  /** Writes a line of the result. */
  override log(message = ''): void {
    super.log('%s', printable(message));
  }

  protected override logJson(json: unknown): void {
    ux.stdout(printableJson(json, 2));
  }

  /** Writes a text for the person to stderr. In `svc`, the commands that the text names are those of `svc`. */
  protected writeNotice(text: string): void {
    process.stderr.write(`${printable(rewordFor(this.program, text))}\n`);
  }

  /** Writes a notice only once, although several responses or pages may have it. */
  protected writeNoticeOnce(text: string): void {
    if (!this.#noticesWritten.has(text)) this.writeNotice(text);
    this.#noticesWritten.add(text);
  }

  /** Shows one record as lines of `name  value`. If `fields` is given, only these are shown. */
  protected showRecord<V extends object>(value: V, fields: readonly (keyof V & string)[] = keysOf(value)): V {
    for (const line of renderFields(fields.map((name) => [label(name), formatValue(name, value[name])])))
      this.log(line);
    return value;
  }

  /** Shows a list as a table of `columns`. Those in `dropIfNarrow` are left out first if the terminal is narrow. */
  protected showTable<V extends object>(
    values: V[],
    columns: readonly (keyof V & string)[],
    { dropIfNarrow = [] }: { dropIfNarrow?: readonly (keyof V & string)[] | undefined } = {},
  ): V[] {
    if (values.length === 0) {
      if (!this.jsonEnabled()) this.writeNotice('Nothing found.');
      return values;
    }
    const width = process.stdout.isTTY ? process.stdout.columns : undefined;
    const { lines, leftOut } = renderListing(values, { columns, dropIfNarrow, width });
    for (const line of lines) this.log(line);
    if (leftOut.length > 0 && !this.jsonEnabled())
      this.writeNotice(`No room for: ${leftOut.join(', ')}. --json shows all.`);
    return values;
  }

  /**
   * Creates a record that has a secret, and shows it. The secret is shown only once, or written only to the file of --out-file.
   * @param field the name of the field with the secret
   */
  protected async showWithSecret<V extends object, F extends keyof V & string>(
    field: F,
    make: () => Promise<V>,
  ) {
    this.prepareApi();
    const path = (this.flags as { 'out-file'?: string })['out-file'];
    if (path !== undefined) {
      const { [field]: _secret, ...rest } = await makeWithSecretFile(path, make, (value) =>
        String(value[field]),
      );
      return this.showRecord({ ...rest, outFile: path });
    }
    const value = await make();
    this.showRecord(value);
    if (!this.jsonEnabled()) this.writeNotice(`${label(field)}: shown only now, so keep it.`);
    return value;
  }

  /**
   * Reads personal data. If the server requires a reason and none was given, asks the person at the terminal for it.
   * @param read reads the data, and passes the reason to the server
   */
  protected async readPersonalData<V>(read: (auditReason: ReadReason) => Promise<V>): Promise<V> {
    // A list reads several pages. The person types the reason only once.
    const { reason = this.#reason } = this.flags as { reason?: string };
    try {
      return await read({ reason });
    } catch (error) {
      const { code } = toFailure(error, this.connectionSource);
      if (code !== 'reason_required' || !isInteractive()) throw error;
      const { input } = await import('@inquirer/prompts');
      const message = 'These are data of a live user. Why do you read them? The audit log keeps it:';
      this.#reason = await readAnswer((context) => input({ message }, context));
      return read({ reason: this.#reason });
    }
  }

  protected override async catch(error: Error): Promise<never> {
    // oclif ends --help and similar flags by throwing an exit, which is not an error.
    if ((error as { code?: string }).code === 'EEXIT') throw error;
    const failure = toFailure(error, this.connectionSource);
    if (failure.code === 'bad_input') {
      // A command without flags of its own has no object of them.
      const message = nameFlags(failure.message, Object.keys({ ...this.ctor.flags }));
      throw new CommandError({ ...failure, message });
    }
    if (failure.code !== 'usage') throw new CommandError(failure);
    const message = `${failure.message}${suggestFlags(error, this.ctor)}`;
    const hint = failure.hint ?? usageHint(this.config.bin, this.ctor);
    throw new CommandError({ ...failure, message, hint });
  }
}

function keysOf<V extends object>(value: V): (keyof V & string)[] {
  return Object.keys(value) as (keyof V & string)[];
}
