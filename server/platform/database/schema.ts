import type { Collection, Db } from 'mongodb';
import { ConfigError } from '../config.ts';
import { version as build } from '../version.ts';
import { isDuplicateKey } from './failures.ts';

/** The newest version of the documents that this build reads and writes; it reads the one before as well. */
export const schemaVersion = 2;

/** Collections of builds before schema version 1. */
const retired = ['wallets', 'accesses'];

interface SchemaDocument {
  _id: 'schema';
  /** A build that knows no version as new as this one must not use the database. */
  version: number;
  /** The oldest build that can read it, for messages. */
  oldestBuild?: string;
}

const elsewhere = 'Use another SVC_DATA_DIR, or another database in MONGODB_URI.';
const metaOf = (db: Db): Collection<SchemaDocument> => db.collection<SchemaDocument>('meta');

const tooOld = ({ version, oldestBuild }: SchemaDocument) =>
  `it has schema version ${version}, and this build (${build}) knows ${schemaVersion}: start a newer build${
    oldestBuild === undefined ? '' : `, ${oldestBuild} or later`
  }`;

/**
 * Why this build must not use the database; undefined where it may. Running processes check it: an upgrade may be
 * finished beside them.
 */
export async function outdatedBy(db: Db, known = schemaVersion): Promise<string | undefined> {
  const found = await metaOf(db).findOne({ _id: 'schema' });
  return found && found.version > known ? tooOld(found) : undefined;
}

/** The version of the documents in the database, and the oldest build that can read them. */
export async function readSchema(db: Db): Promise<{ version: number; oldestBuild: string | undefined }> {
  const found = await metaOf(db).findOne({ _id: 'schema' });
  return { version: found?.version ?? schemaVersion, oldestBuild: found?.oldestBuild };
}

/** From now on older builds do not start, and those that run stop their work. Idempotent. */
export async function raiseSchema(db: Db, version: number): Promise<void> {
  const older = { _id: 'schema' as const, version: { $lt: version } };
  await metaOf(db).updateOne(older, { $set: { version, oldestBuild: build } });
}

/**
 * Compares the database's schema version with that of this build, and writes it into a new database. To be called before
 * anything else is written.
 * @throws ConfigError for a database of an earlier or a newer build; nothing has been changed then
 */
export async function requireSchema(db: Db): Promise<void> {
  const meta = metaOf(db);
  const found = await meta.findOne({ _id: 'schema' });
  const fault = await outdatedBy(db);
  if (fault !== undefined)
    throw new ConfigError([`the database ${db.databaseName} cannot be used: ${fault}.`]);
  if (found) return;
  const names = await db.listCollections({}, { nameOnly: true }).toArray();
  const old = names.map(({ name }) => name).filter((name) => retired.includes(name));
  if (old.length > 0) {
    throw new ConfigError([
      `the database ${db.databaseName} was written by an earlier build (it has ${old.join(' and ')}), and this build cannot read it. Nothing was changed. ${elsewhere}`,
    ]);
  }
  await meta
    .insertOne({ _id: 'schema', version: schemaVersion, oldestBuild: build })
    .catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
}
