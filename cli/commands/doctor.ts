import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceView } from '../../contracts/admin/sources.ts';
import { type Finding, findingOf, judgeDatabase, judgeShards } from '../doctor/findings.ts';
import { exits, toFailure } from '../errors/failure.ts';
import { localTimes } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

/** Milliseconds that the clocks may differ before signatures and limits look wrong. */
const toleratedSkewMs = 2_000;

export default class Doctor extends AdminCommand<typeof Doctor> {
  static override summary = 'Find problems between you and the server, each with its remedy.';
  static override examples = ['<%= config.bin %> doctor'];

  async run() {
    const findings = [this.#profiles(), ...(await this.#server())];
    if (findings.some(({ ok }) => !ok)) process.exitCode = exits.failure;
    for (const { check, ok, found, fix } of findings) {
      this.log(
        `${ok ? 'ok  ' : 'FAIL'}  ${check}: ${localTimes(found)}${fix === null ? '' : `\n      → ${fix}`}`,
      );
    }
    return findings;
  }

  #profiles(): Finding {
    const file = join(this.config.configDir, 'profiles.json');
    const permissions = statSync(file, { throwIfNoEntry: false })?.mode;
    const ok = permissions === undefined || (permissions & 0o077) === 0;
    const found =
      permissions === undefined ? 'none kept' : ok ? `${file}, yours only` : `${file} can be read by others`;
    return { check: 'profiles', ok, found, fix: ok ? null : `chmod 600 ${file}` };
  }

  async #server(): Promise<Finding[]> {
    const sent = Date.now();
    try {
      const { url, urlFrom, tokenFrom } = this.connection;
      const api = await this.api();
      const [identity, status, sources] = await Promise.all([
        api.operators.whoami.query(),
        api.status.query(),
        api.sources.list.query(),
      ]);
      // The only one that needs the database.
      const shards = status.database === 'up' ? judgeShards(await api.schema.shards.query()) : [];
      const skew = Math.round(Date.parse(status.time) - (sent + Date.now()) / 2);
      const sameVersion = status.version === this.config.version;
      const reachable = {
        check: 'server',
        ok: true,
        found: `${url} (from ${urlFrom}), ${status.environment}`,
        fix: null,
      };
      return [
        reachable,
        {
          check: 'token',
          ok: true,
          found: `${identity.name}, ${identity.role} (from ${tokenFrom})`,
          fix: null,
        },
        findingOf('versions', sameVersion, [
          `server ${status.version}, svcadmin ${this.config.version}, contract ${status.contract}`,
          'use the svcadmin of the server, or upgrade the older of the two',
        ]),
        findingOf('your clock', Math.abs(skew) <= toleratedSkewMs, [
          `${Math.abs(skew)} ms ${skew > 0 ? 'behind' : 'ahead of'} the server`,
          'let the machine keep time by NTP',
        ]),
        judgeDatabase(status),
        findingOf("the server's clock", status.clockTrusted, [
          status.clockTrusted ? 'agrees with the database' : 'is not trusted with money',
          'let server and database keep time by NTP',
        ]),
        judgeSources(sources),
        ...shards,
      ];
    } catch (error) {
      const { message, hint } = toFailure(error, this.connectionSource);
      return [{ check: 'server', ok: false, found: message, fix: hint ?? null }];
    }
  }
}

/** Sources that cannot work, and certificates that expire within 30 days. */
function judgeSources(sources: readonly SourceView[]): Finding {
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
