import type { Db } from 'mongodb';
import { ConfigError } from '../config.ts';
import { isDuplicateKey } from './failures.ts';

/** Of the documents that this build reads and writes. */
export const schemaVersion = 1;

/** Collections of builds before schema version 1. */
const retired = ['wallets', 'accesses'];

interface SchemaDocument {
  _id: 'schema';
  version: number;
}

const elsewhere = 'Use another SVC_DATA_DIR, or another database in MONGODB_URI.';

/**
 * Compares the database's schema version with that of this build, and writes it into a new database. To be called before
 * anything else is written.
 * @throws ConfigError for a database of an earlier or a newer build; nothing has been changed then
 */
export async function requireSchema(db: Db): Promise<void> {
  const meta = db.collection<SchemaDocument>('meta');
  const found = await meta.findOne({ _id: 'schema' });
  if (found && found.version > schemaVersion) {
    throw new ConfigError([
      `the database ${db.databaseName} has schema version ${found.version}, and this build knows ${schemaVersion}: start a newer build.`,
    ]);
  }
  if (found) return;
  const names = await db.listCollections({}, { nameOnly: true }).toArray();
  const old = names.map(({ name }) => name).filter((name) => retired.includes(name));
  if (old.length > 0) {
    throw new ConfigError([
      `the database ${db.databaseName} was written by an earlier build (it has ${old.join(' and ')}), and this build cannot read it. Nothing was changed. ${elsewhere}`,
    ]);
  }
  await meta.insertOne({ _id: 'schema', version: schemaVersion }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}
