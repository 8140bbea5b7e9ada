import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import type { EmbeddedDatabase } from '../../../embedded-database/embedded.ts';
import type { Config } from '../../platform/config/config.ts';
import { generatedMasterKeys } from '../../platform/config/local-secrets.ts';
import { connect } from '../../platform/database/connect.ts';
import { requireSchema } from '../../platform/database/schema/schema.ts';
import { ConfigError } from '../../platform/errors.ts';
import { createLogger } from '../../platform/telemetry/logging.ts';
import { schema } from '../wiring/schema.ts';
import { closeRestored } from './restored.ts';

/** Files that a running engine makes. They are not part of the data. */
const processFiles = new Set(['mongod.lock', 'svc-holder.pid']);
/** Files of the data directory that belong to a backup besides the database. */
const secrets = ['master-key', 'admin-token'];
const manifestName = 'backup.json';

const Manifest = z.strictObject({
  format: z.literal(1),
  takenAt: z.iso.datetime(),
  schema: z.number().int(),
  /** SHA-256 of each file, by its path in the backup. */
  files: z.record(z.string(), z.string()),
});

const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile())
    .toSorted();

const copyDatabase = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, filter: (path) => !processFiles.has(basename(path)) });

function requireEmbedded({ mongodbUri }: Config): void {
  if (mongodbUri === undefined) return;
  throw new ConfigError([
    'MONGODB_URI: backup and restore are for the embedded database; use the tools of your MongoDB, and then `svc-gateway restored`',
  ]);
}

/** Starts the engine of the data directory, runs `work`, and stops the engine, which then writes all data to disk. */
async function withEngine<T>(dataDir: string, work: (engine: EmbeddedDatabase) => Promise<T>): Promise<T> {
  const { startEmbedded } = await import('../../../embedded-database/embedded.ts');
  const engine = await startEmbedded({ dataDir, logger: createLogger('silent') });
  try {
    return await work(engine);
  } finally {
    await engine.stop();
  }
}

/**
 * Runs an engine on a copy of an embedded database and calls `work` with its address. The directory itself stays as it is.
 * @param directory a backup, a data directory, or the folder `db` of one
 */
export async function withCopyOf<T>(directory: string, work: (uri: string) => Promise<T>): Promise<T> {
  const source = existsSync(join(directory, 'db')) ? join(directory, 'db') : directory;
  if (!existsSync(join(source, 'WiredTiger')))
    throw new Error(`${source} holds no embedded database; give its folder, or a MONGODB_URI`);
  const draft = mkdtempSync(join(tmpdir(), 'svc-gateway-'));
  try {
    copyDatabase(source, join(draft, 'db'));
    return await withEngine(draft, ({ uri }) => work(uri));
  } finally {
    rmSync(draft, { recursive: true });
  }
}

/** The manifest of a backup says that the database has the schema of this build, so it must have it. */
async function checkSchema({ uri }: EmbeddedDatabase): Promise<void> {
  const { client, db } = await connect({ uri, embedded: true, appName: 'svc-gateway-backup' });
  try {
    await requireSchema(db, schema);
  } finally {
    await client.close();
  }
}

/**
 * Copies the embedded database and the generated secrets into a new directory. The server must not run, so that the copy is
 * consistent.
 * @returns the path of the backup and the number of copied files
 * @throws Error if a server uses the data directory, or if the target directory is not empty
 */
export async function backup(config: Config, to: string) {
  requireEmbedded(config);
  const { dataDir } = config;
  const target = resolve(to);
  const database = join(dataDir, 'db');
  if (!existsSync(database)) throw new Error(`${dataDir} holds no database`);
  if (existsSync(target) && readdirSync(target).length > 0) throw new Error(`${target} is not empty`);
  await withEngine(dataDir, checkSchema);
  // Each start of an engine writes this file, so its time shows whether a server was started during the copy.
  const lockedBefore = statSync(join(database, 'mongod.lock')).mtimeMs;
  mkdirSync(target, { recursive: true, mode: 0o700 });
  copyDatabase(database, join(target, 'db'));
  for (const name of secrets.filter((file) => existsSync(join(dataDir, file))))
    cpSync(join(dataDir, name), join(target, name));
  if (statSync(join(database, 'mongod.lock')).mtimeMs !== lockedBefore) {
    rmSync(target, { recursive: true });
    throw new Error('a server was started while the database was copied; the copy was removed');
  }
  const files = Object.fromEntries(filesIn(target).map((path) => [path, digestOf(join(target, path))]));
  const manifest = { format: 1, takenAt: new Date().toISOString(), schema: schema.version, files };
  writeFileSync(join(target, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return { target, files: Object.keys(files).length };
}

/** @throws Error if the file is no manifest of a backup */
function readManifest(path: string): z.infer<typeof Manifest> {
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new Error(`${path} is damaged, or of another version: use a backup that is whole`, { cause });
  }
}

/** Compares a backup with its manifest. @throws Error with the first file that is missing, not in the manifest or different */
function verify(source: string): z.infer<typeof Manifest> {
  const path = join(source, manifestName);
  if (!existsSync(path)) throw new Error(`${source} is no backup: it has no ${manifestName}`);
  const manifest = readManifest(path);
  const present = filesIn(source).filter((name) => name !== manifestName);
  for (const name of new Set([...present, ...Object.keys(manifest.files)])) {
    const file = join(source, name);
    if (!existsSync(file) || digestOf(file) !== manifest.files[name])
      throw new Error(`${file} is not as the backup was taken`);
  }
  return manifest;
}

/**
 * Restores a backup if there is no database, and ends its open sessions and codes. This happens in a temporary folder, which
 * becomes the database at the end.
 * @returns when the backup was taken, and the numbers of ended sessions and codes
 * @throws Error if the backup is damaged, or if the data directory has a database or other secrets
 * @throws ConfigError if no master key of this configuration opens the backup
 */
export async function restore(config: Config, from: string) {
  requireEmbedded(config);
  const { dataDir } = config;
  const source = resolve(from);
  const { takenAt } = verify(source);
  if (existsSync(join(dataDir, 'db')))
    throw new Error(`${join(dataDir, 'db')} exists: stop the server and move it away first`);
  for (const name of secrets) {
    const [inBackup, present] = [join(source, name), join(dataDir, name)];
    if (existsSync(inBackup) && existsSync(present) && digestOf(inBackup) !== digestOf(present))
      throw new Error(`${present} is not that of the backup: move it away first`);
  }
  // Without a configured key, the backup has a generated one, or the data directory still has it.
  const masterKeys = config.masterKeys ?? [source, dataDir].flatMap(generatedMasterKeys);
  /** Undefined if the data directory existed before. */
  const createdDirectory = mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = mkdtempSync(join(dataDir, 'restoring-'));
  try {
    cpSync(join(source, 'db'), join(draft, 'db'), { recursive: true });
    const ended = await withEngine(draft, ({ uri }) =>
      closeRestored({ uri, embedded: true, source: `${source}, taken at ${takenAt}`, masterKeys }),
    );
    for (const name of secrets.filter((file) => existsSync(join(source, file))))
      cpSync(join(source, name), join(dataDir, name));
    renameSync(join(draft, 'db'), join(dataDir, 'db'));
    rmSync(draft, { recursive: true });
    return { takenAt, ...ended };
  } catch (error) {
    // Nothing remains of a failed restore.
    rmSync(createdDirectory ?? draft, { recursive: true });
    throw error;
  }
}
