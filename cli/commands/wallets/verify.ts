import { readFile } from 'node:fs/promises';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { SignedStatement, statementType } from '../../../contracts/admin/wallets.ts';
import { withoutSlash } from '../../connection/connection.ts';
import { CommandError, usageError } from '../../errors/failure.ts';
import { formatCents } from '../../flags/amounts.ts';
import { textOf } from '../../flags/input-file.ts';
import { timeInZone } from '../../flags/zones.ts';
import { localTime } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';

const refusedError = (message: string) => new CommandError({ code: 'refused', message });

/** Returns the arithmetic fault of a statement with a valid signature; undefined if there is none. */
function faultOf({ opening, closing, entries }: SignedStatement): string | undefined {
  let balance = opening;
  for (const { id, amount, balanceAfter } of entries) {
    balance += amount;
    if (balance !== balanceAfter) return `entry ${id} does not follow from the one before`;
  }
  return balance === closing ? undefined : 'the entries do not add up to the closing balance';
}

type Keys = ReturnType<typeof createLocalJWKSet>;

/** Describes the period of a statement in the zone that it names. */
function periodOf({ from, to, timezone = 'UTC' }: SignedStatement): string {
  if (from === undefined) return 'Period: not stated, because an older build signed it';
  const [begin, end] = [from, to].map((iso) => iso && timeInZone(iso, timezone));
  return `Period: ${begin ?? 'the beginning'} to ${end ?? 'the end of the ledger'} (${timezone})`;
}

/** Whether entries of the period could follow after the signature. */
const isOpen = ({ from, to, iat }: SignedStatement): boolean =>
  from !== undefined && (to === null || to === undefined || Date.parse(to) > iat * 1000);

export default class WalletsVerify extends AdminCommand<typeof WalletsVerify> {
  static override summary = 'Verify a signed statement. Exit 5 if it is not genuine.';
  static override description =
    'Needs no operator token, because the keys are public. Without --jwks they are read from --issuer.';
  static override examples = [
    '<%= config.bin %> wallets verify june.jws --issuer https://verify.example',
    '<%= config.bin %> wallets verify june.jws --jwks keys.json',
  ];
  static override args = { file: Args.string({ description: 'file with the JWS', required: true }) };
  static override flags = {
    issuer: Flags.string({ description: 'base URL of the service that signed it' }),
    jwks: Flags.string({ description: 'file with the published keys, to verify offline' }),
  };

  async run() {
    const { jwks } = this.flags;
    // The issuer in a statement has no slash at its end.
    const issuer = this.flags.issuer && withoutSlash(this.flags.issuer);
    if (!issuer && !jwks) throw usageError('Say who must have signed it: --issuer URL, or --jwks FILE');
    const [text, keys] = await Promise.all([this.read(this.args.file), this.readKeys(issuer, jwks)]);
    const statement = await this.verify(text.trim(), keys, issuer);
    const fault = faultOf(statement);
    if (fault) throw refusedError(`The signature is good, but ${fault}`);
    const { iss, iat, partnerId, mode, opening, closing, entries, ledger } = statement;
    this.log(`Signed by ${iss} on ${localTime(new Date(iat * 1000).toISOString())}`);
    this.log(
      `${partnerId}, ${mode}: ${entries.length} entries, ${formatCents(opening)} → ${formatCents(closing)} USD`,
    );
    this.log(periodOf(statement));
    if (isOpen(statement)) this.log('Signed before the period ended: later entries are missing.');
    this.log(`Ledger page ${ledger.page}, digest ${ledger.digest}`);
    return statement;
  }

  private async read(path: string): Promise<string> {
    try {
      return textOf(await readFile(path));
    } catch {
      throw usageError(`Cannot read ${path}`);
    }
  }

  /** Reads the published keys from a file, or from the issuer if there is no file. @throws CommandError if there are none */
  private async readKeys(issuer: string | undefined, path: string | undefined): Promise<Keys> {
    const from = path ?? `${issuer}/.well-known/jwks.json`;
    try {
      const text = path ? await this.read(path) : await (await fetch(from)).text();
      return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
    } catch (error) {
      if (error instanceof CommandError) throw error;
      throw usageError(`No keys at ${from}`);
    }
  }

  /** Verifies the signature, and the issuer if it is given. @throws CommandError exit 5 if the statement is not genuine */
  private async verify(jws: string, keys: Keys, issuer: string | undefined): Promise<SignedStatement> {
    const options = { algorithms: ['ES256'], typ: statementType, ...(issuer && { issuer }) };
    let verified: Awaited<ReturnType<typeof jwtVerify>>;
    try {
      verified = await jwtVerify(jws, keys, options);
    } catch (error) {
      throw refusedError(`This statement is not genuine: ${(error as Error).message}`);
    }
    const { data } = SignedStatement.safeParse(verified.payload);
    if (!data) throw refusedError('This is signed, but it is no statement');
    return data;
  }
}
