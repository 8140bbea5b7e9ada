import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { SourceView } from '../../contracts/admin/sources.ts';
import type { StatusView } from '../../contracts/admin/status.ts';
import type { AdminApi } from '../connection/client.ts';
import { exits, toFailure } from '../errors/failure.ts';
import { localTimes } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

/** The most that the clocks may differ, in milliseconds. If they differ more, signatures and limits look wrong. */
const mostSkewMs = 2_000;

export default class Doctor extends AdminCommand<typeof Doctor> {
  static override summary = 'Find problems between you and the server, each with its remedy.';
  static override examples = ['<%= config.bin %> doctor'];

  async run() {
    const findings = [this.#checkProfiles(), ...(await this.#checkServer())];
    if (findings.some(({ ok }) => !ok)) process.exitCode = exits.failure;
    for (const { check, ok, found, fix } of findings) {
      this.log(
        `${ok ? 'ok  ' : 'FAIL'}  ${check}: ${localTimes(found)}${fix === null ? '' : `\n      → ${fix}`}`,
      );
    }
    return findings;
  }

  #checkProfiles(): Finding {
    const file = join(this.config.configDir, 'profiles.json');
    const permissions = statSync(file, { throwIfNoEntry: false })?.mode;
    if (permissions === undefined) return { check: 'profiles', ok: true, found: 'none kept', fix: null };
    const isPrivate = (permissions & 0o077) === 0;
    const found = isPrivate ? `${file}, yours only` : `${file} can be read by others`;
    return findingOf('profiles', isPrivate, [found, `chmod 600 ${file}`]);
  }

  async #checkServer(): Promise<Finding[]> {
    try {
      return await this.#checkWithApi(await this.api());
    } catch (error) {
      const { message, hint } = toFailure(error, this.connectionSource);
      return [{ check: 'server', ok: false, found: message, fix: hint ?? null }];
    }
  }

  async #checkWithApi(api: AdminApi): Promise<Finding[]> {
    const { url, urlFrom, tokenFrom } = this.connection;
    const sentAt = Date.now();
    const [{ name, role }, status, sources] = await Promise.all([
      api.operators.whoami.query(),
      api.status.query(),
      api.sources.list.query(),
    ]);
    const skewMs = Math.round(Date.parse(status.time) - (sentAt + Date.now()) / 2);
    // The shards are the only check that needs the database.
    const shards = status.database === 'up' ? checkShards(await api.schema.shards.query()) : [];
    return [
      { check: 'server', ok: true, found: `${url} (from ${urlFrom}), ${status.environment}`, fix: null },
      { check: 'token', ok: true, found: `${name}, ${role} (from ${tokenFrom})`, fix: null },
      checkVersions(status, this.config.version),
      checkSkew(skewMs),
      checkDatabase(status),
      findingOf("the server's clock", status.clockTrusted, [
        status.clockTrusted ? 'agrees with the database' : 'is not trusted with money',
        'let server and database keep time by NTP',
      ]),
      checkSources(sources),
      ...shards,
    ];
  }
}

function checkVersions({ version, contract }: StatusView, cliVersion: string): Finding {
  return findingOf('versions', version === cliVersion, [
    `server ${version}, svcadmin ${cliVersion}, contract ${contract}`,
    'use the svcadmin of the server, or upgrade the older of the two',
  ]);
}

/** @param skewMs how far the clock of the server is ahead of this one, in milliseconds */
function checkSkew(skewMs: number): Finding {
  return findingOf('your clock', Math.abs(skewMs) <= mostSkewMs, [
    `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'behind' : 'ahead of'} the server`,
    'let the machine keep time by NTP',
  ]);
}

/** Reports sources that cannot work, and certificates that expire within 30 days. */
function checkSources(sources: readonly SourceView[]): Finding {
  const faults = sources.flatMap(({ name, fault, certificates }) => [
    ...(fault === null ? [] : [`${name}: ${fault}`]),
    ...certificates
      .filter(({ expiring }) => expiring)
      .map(({ use, notAfter }) => `${name}: ${use} expires ${notAfter}`),
  ]);
  return findingOf('verification sources', faults.length === 0, [
    faults.length === 0 ? `${sources.length}, nothing wrong with them` : faults.join('; '),
    'look with svcadmin sources check NAME, and renew what expires',
  ]);
}

/** The result of one check: its subject, what was found, and how to mend a fault. */
interface Finding {
  check: string;
  ok: boolean;
  found: string;
  fix: string | null;
}

function findingOf(check: string, isOk: boolean, [found, fix]: readonly [string, string]): Finding {
  return { check, ok: isOk, found, fix: isOk ? null : fix };
}

/** Reports a database that is away, with the reason and the time. Servers of older builds report neither. */
function checkDatabase({ database, away }: Pick<StatusView, 'database'> & Partial<StatusView>): Finding {
  const found = away ? `${database} since ${away.since}: ${away.reason}` : database;
  return findingOf('database', database === 'up', [found, 'start it, or check MONGODB_URI of the server']);
}

/** Describes how a collection is sharded: `sharded by` its key, or the text of the server if it has no key. */
const describeSharding = (found: string | null) => (found?.startsWith('{') ? `sharded by ${found}` : found);

/** Reports wrong shard keys. Returns nothing if the database is not a sharded cluster. Unreadable settings are no fault. */
export function checkShards({ sharded, differences, unread }: ShardsView): Finding[] {
  if (!sharded) return [];
  const found = differences.map(
    (each) =>
      `${each.collection} is ${describeSharding(each.found) ?? 'not sharded'}, and should be ${describeSharding(each.expected) ?? 'unsharded'}`,
  );
  const comparison = findingOf('sharding', found.length === 0, [
    found.join('; ') || (unread.length === 0 ? 'as declared' : 'nothing differs as far as it can be read'),
    'see "Sharded clusters" in docs/operations.md',
  ]);
  if (unread.length === 0) return [comparison];
  const unreadNote = `not compared, because the user of MONGODB_URI may not read them: ${unread.join(', ')}`;
  const grant = 'grant it the role clusterMonitor, or compare in mongosh with sh.status()';
  return [comparison, { check: 'sharding', ok: true, found: unreadNote, fix: grant }];
}
