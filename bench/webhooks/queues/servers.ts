import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accepts } from '../../database.ts';
import { freePort, launch, type Program, temporaryDirectory } from '../../processes.ts';

/** A database server of a queue. */
export interface QueueServer extends Program {
  uri: string;
}

/** The path of a program; undefined if it is not installed. */
const pathOf = (program: string): string | undefined =>
  spawnSync('which', [program], { encoding: 'utf8' }).stdout?.trim() || undefined;

/** Redis in a temporary folder. A command is answered when it is on disk. @returns undefined if Redis is not installed */
export async function startRedis(): Promise<QueueServer | undefined> {
  const command = pathOf('redis-server');
  if (!command) return undefined;
  const port = await freePort();
  const settings = {
    ...{ port, bind: '127.0.0.1', dir: temporaryDirectory(), save: '', loglevel: 'warning' },
    ...{ appendonly: 'yes', appendfsync: 'always', 'auto-aof-rewrite-percentage': 0 },
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const program = await launch({ command, args, ready: () => accepts(port) });
  return { ...program, uri: `redis://127.0.0.1:${port}` };
}

/** The folder of PostgreSQL's programs. Debian keeps them outside of the path, by version. */
function postgresFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted() : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  const installed = pathOf('postgres');
  return folders.at(-1) ?? (installed && join(installed, '..'));
}

/** PostgreSQL in a temporary folder with its default settings. @returns undefined if PostgreSQL is not installed */
export async function startPostgres(): Promise<QueueServer | undefined> {
  const folder = postgresFolder();
  if (!folder) return undefined;
  const port = await freePort();
  const directory = temporaryDirectory();
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  if (isRoot) execFileSync('chown', ['postgres', directory]);
  const data = join(directory, 'data');
  const initialise = [join(folder, 'initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8'];
  const [first = '', ...rest] = [...user, ...initialise];
  execFileSync(first, rest, { cwd: '/', stdio: 'ignore' });
  const listen = ['-h', '127.0.0.1', '-p', String(port), '-k', directory];
  const [command = '', ...args] = [...user, join(folder, 'postgres'), '-D', data, ...listen];
  const program = await launch({ command, args, ready: () => accepts(port) });
  return { ...program, uri: `postgres://postgres@127.0.0.1:${port}/postgres` };
}
