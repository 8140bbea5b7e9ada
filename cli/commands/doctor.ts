import { statSync } from 'node:fs';
import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { SourceView } from '../../contracts/admin/sources.ts';
import type { StatusView } from '../../contracts/admin/status.ts';
import { processName } from '../../contracts/processes.ts';
import { profilesFile } from '../connection/profiles.ts';
import { exits, toFailure } from '../errors/failure.ts';
import { describeDifferences, remedyOf } from '../output/differing-settings.ts';
import { localTimes } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

/** The most that the clocks may differ, in milliseconds. If they differ more, signatures and limits look wrong. */
const mostSkewMs = 2_000;

/** How many of the last requests are checked. */
const checkedRequests = 100;

/** The bits of a file mode that let the group or all users read, write or execute the file. */
const permissionsOfOthers = 0o077;

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
    const file = profilesFile(this.config.configDir);
    const permissions = statSync(file, { throwIfNoEntry: false })?.mode;
    if (permissions === undefined) return { check: 'profiles', ok: true, found: 'none kept', fix: null };
    const isPrivate = (permissions & permissionsOfOthers) === 0;
    const found = isPrivate ? `${file}, yours only` : `${file} can be read by others`;
    return findingOf('profiles', isPrivate, { found, fix: `chmod 600 ${file}` });
  }

  async #checkServer(): Promise<Finding[]> {
    try {
      return await this.#checkWithApi();
    } catch (error) {
      const { message, hint } = toFailure(error, this.connectionSource);
      return [{ check: 'server', ok: false, found: message, fix: hint ?? null }];
    }
  }

  async #checkWithApi(): Promise<Finding[]> {
    const { url, urlFrom, tokenFrom } = this.connection;
    const sentAt = Date.now();
    const [{ name, role }, status, sources] = await Promise.all([
      this.api.operators.whoami.query(),
      this.api.status.query(),
      this.api.sources.list.query(),
    ]);
    // The server told its time between the request and the response, so it is compared with the middle.
    const skewMs = Math.round(Date.parse(status.time) - (sentAt + Date.now()) / 2);
    const ofRecords = status.database === 'up' ? await this.#checkRecords() : [addressesUnknown];
    return [
      { check: 'server', ok: true, found: `${url} (from ${urlFrom}), ${status.environment}`, fix: null },
      { check: 'token', ok: true, found: `${name}, ${role} (from ${tokenFrom})`, fix: null },
      checkVersions(status, this.config.version),
      checkSkew(skewMs),
      checkDatabase(status),
      findingOf("the server's clock", status.clockTrusted, {
        found: status.clockTrusted ? 'agrees with the database' : 'is not trusted with money',
        fix: 'let server and database keep time by NTP',
      }),
      checkProcesses(status),
      checkSources(sources),
      ...ofRecords,
    ];
  }

  /** The checks that need the database. */
  async #checkRecords(): Promise<Finding[]> {
    const [shards, { rows }] = await Promise.all([
      this.api.schema.shards.query(),
      this.api.requests.list.query({ limit: checkedRequests }),
    ]);
    return [checkAddresses(rows), ...checkShards(shards)];
  }
}

function checkVersions({ version, contract }: StatusView, cliVersion: string): Finding {
  return findingOf('versions', version === cliVersion, {
    found: `server ${version}, svcadmin ${cliVersion}, contract ${contract}`,
    fix: 'use the svcadmin of the server, or upgrade the older of the two',
  });
}

/** @param skewMs how far the clock of the server is ahead of this one, in milliseconds */
function checkSkew(skewMs: number): Finding {
  return findingOf('your clock', Math.abs(skewMs) <= mostSkewMs, {
    found: `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'behind' : 'ahead of'} the server`,
    fix: 'let the machine keep time by NTP',
  });
}

/** The check of addresses while the requests cannot be read. */
const addressesUnknown: Finding = {
  check: "callers' addresses",
  ok: true,
  found: 'not known while the database is away',
  fix: null,
};

/** Reports callers whose address is unreadable: they all share one limit. A proxy may write X-Forwarded-For in an unknown form. */
export function checkAddresses(requests: readonly { address: string | null }[]): Finding {
  const unreadable = requests.filter(({ address }) => address === 'unknown').length;
  return findingOf("callers' addresses", unreadable === 0, {
    found: `${unreadable === 0 ? 'all readable' : `${unreadable} unreadable`}, of the last ${requests.length} requests`,
    fix: 'let the proxy put addresses into X-Forwarded-For, and name it by SVC_TRUST_PROXY of the server',
  });
}

/**
 * Reports processes that are not ready, roles that no process has, and settings in which processes differ. Servers of older
 * builds report none of them.
 */
export function checkProcesses(status: Partial<StatusView>): Finding {
  const { processes, missingRoles, differingSettings, database } = status;
  if (database === 'down')
    return { check: 'processes', ok: true, found: 'not known while the database is away', fix: null };
  const notReady = (processes ?? []).filter(({ ready }) => ready === false);
  const faults = [
    ...(missingRoles ?? []).map(
      ({ role, since }) => `no process with the role ${role}${since === null ? '' : ` since ${since}`}`,
    ),
    ...describeDifferences(status),
    ...notReady.map(
      (process) => `${processName(process, process.roles)} is not ready: ${process.reasons?.join('; ')}`,
    ),
  ];
  const fixes = [
    missingRoles?.length && 'start a process with that role',
    missingRoles?.some(({ role }) => role === 'worker') && 'see "SvcNoWorker" in docs/operations.md',
    remedyOf(differingSettings),
    notReady.length > 0 && 'look with svcadmin status, and see "SvcNotReady" in docs/operations.md',
  ];
  return findingOf('processes', faults.length === 0, {
    found:
      faults.length === 0
        ? `${processes?.length ?? 'none'} seen, nothing wrong with them`
        : faults.join('. '),
    fix: fixes.filter(Boolean).join('; '),
  });
}

/** Reports sources that cannot work, and certificates that expire within 30 days. */
function checkSources(sources: readonly SourceView[]): Finding {
  const faults = sources.flatMap(({ name, fault, certificates }) => [
    ...(fault === null ? [] : [`${name}: ${fault}`]),
    ...certificates
      .filter(({ expiring }) => expiring)
      .map(({ use, notAfter }) => `${name}: ${use} expires ${notAfter}`),
  ]);
  return findingOf('verification sources', faults.length === 0, {
    found: faults.length === 0 ? `${sources.length}, nothing wrong with them` : faults.join('; '),
    fix: 'look with svcadmin sources check NAME, and renew what expires',
  });
}

/** The result of one check: its subject, what was found, and how to mend a fault. */
interface Finding {
  check: string;
  ok: boolean;
  found: string;
  fix: string | null;
}

/** Returns a finding. It has the fix only if there is a fault. */
function findingOf(check: string, isOk: boolean, { found, fix }: { found: string; fix: string }): Finding {
  return { check, ok: isOk, found, fix: isOk ? null : fix };
}

/** Reports a database that is away, with the reason and the time. Servers of older builds report neither. */
function checkDatabase({ database, away }: Pick<StatusView, 'database'> & Partial<StatusView>): Finding {
  const found = away ? `${database} since ${away.since}: ${away.reason}` : database;
  return findingOf('database', database === 'up', {
    found,
    fix: 'start it, or check MONGODB_URI of the server',
  });
}

/** Describes how a collection is sharded. The server tells a shard key as JSON, and anything else in words. */
const describeSharding = (found: string | null) => (found?.startsWith('{') ? `sharded by ${found}` : found);

/** Reports wrong shard keys. Returns nothing if the database is not a sharded cluster. Unreadable settings are no fault. */
export function checkShards({ sharded, differences, unread }: ShardsView): Finding[] {
  if (!sharded) return [];
  const faults = differences.map(
    ({ collection, found, expected }) =>
      `${collection} is ${describeSharding(found) ?? 'not sharded'}, and should be ${describeSharding(expected) ?? 'unsharded'}`,
  );
  const isComplete = unread.length === 0;
  const soundText = isComplete ? 'as declared' : 'nothing differs as far as it can be read';
  const comparison = findingOf('sharding', faults.length === 0, {
    found: faults.length === 0 ? soundText : faults.join('; '),
    fix: 'see "Sharded clusters" in docs/operations.md',
  });
  if (isComplete) return [comparison];
  const unreadNote = `not compared, because the user of MONGODB_URI may not read them: ${unread.join(', ')}`;
  // Settings that cannot be read are no fault, but the operator may want to have them compared.
  const grant = 'grant it the role clusterMonitor, or compare in mongosh with sh.status()';
  return [comparison, { check: 'sharding', ok: true, found: unreadNote, fix: grant }];
}
