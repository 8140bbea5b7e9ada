import type { Collection, Db } from 'mongodb';
import { ConfigError } from '../../errors.ts';
import { version as build } from '../../version.ts';
import { duplicateKey, isUnavailable, unlessDuplicate } from '../failures.ts';
import { metaCollection } from '../meta.ts';
import type { JointRead, Read } from '../reads/joint-reads.ts';
import type { Migration } from './migrations.ts';

/** The versions of documents that a build knows. */
export interface Schema {
  /** The newest version, which this build reads and writes. */
  version: number;
  /** The oldest version that this build can read: its own, or the one of the release before. */
  oldest: number;
  /** Changes of documents from the oldest version to the newest, in this order. */
  migrations: readonly Migration[];
}
type Versions = Omit<Schema, 'migrations'>;

/** Collections of old builds, which wrote no schema version. This build cannot read a database that has one of them. */
const retiredCollections = ['wallets', 'accesses'];

interface SchemaDocument {
  _id: 'schema';
  /** A build that does not know this version must not use the database. */
  version: number;
  /** The oldest build that can read this version, for messages. */
  oldestBuild?: string;
  /** When an operator finished the upgrade to this version; removed when no document of the version before is left. */
  raisedAt?: Date;
  /** Since when no process looks for documents of the version before. */
  switchedAt?: Date;
}

/**
 * The forms of documents in use. `old`: builds of the version before may run, so the old form is written. `both`: no such
 * build can run any more, but their documents are still read. `new`: only the new form is read.
 */
export type Forms = 'old' | 'both' | 'new';

const useAnotherDatabase = 'Use another SVC_DATA_DIR, or another database in MONGODB_URI.';
const metaOf = (db: Db): Collection<SchemaDocument> => db.collection<SchemaDocument>(metaCollection);

/** Says that this build is too old for a database with this schema, and which build is new enough. */
function tooOld({ version, oldestBuild }: Omit<SchemaDocument, '_id'>, known: number): string {
  const fault = `it has schema version ${version}, and this build (${build}) knows ${known}`;
  const remedy = oldestBuild === undefined ? 'a newer build' : `a newer build, ${oldestBuild} or later`;
  return `${fault}: start ${remedy}`;
}

/** The content of the schema document, and the forms of documents that are in use. */
export interface SchemaState extends Omit<SchemaDocument, '_id'> {
  forms: Forms;
}

const schemaRead: Read = {
  collection: metaCollection,
  filter: { _id: 'schema' },
  projection: { version: 1, oldestBuild: 1, raisedAt: 1, switchedAt: 1 },
};

/** The look of the sweep that removes the old form of records: an upgrade that an operator has finished. */
export const raisedSchemaRead: Read = {
  ...schemaRead,
  filter: { ...schemaRead.filter, raisedAt: { $exists: true } },
};

/** Reads the schema's state. @param version the newest version that this build knows */
export async function readSchema(db: Db, version: number): Promise<SchemaState> {
  return stateOf(await metaOf(db).findOne({ _id: 'schema' }), version);
}

function stateOf(stored: SchemaDocument | null | undefined, version: number): SchemaState {
  const { _id, ...found } = stored ?? { _id: 'schema', version };
  if (found.version < version) return { ...found, forms: 'old' };
  const isOldFormRead = found.raisedAt !== undefined && found.switchedAt === undefined;
  return { ...found, forms: isOldFormRead ? 'both' : 'new' };
}

/**
 * Why this build must not use the database any more; undefined if it may. An upgrade can be finished while a process runs.
 * @param known the newest version that this build reads
 */
export async function outdatedBy(read: JointRead, known: number): Promise<string | undefined> {
  const [stored] = await read<SchemaDocument>(schemaRead);
  const state = stateOf(stored, known);
  return state.version > known ? tooOld(state, known) : undefined;
}

/** Raises the version: older builds do not start any more, and running ones stop their work. Idempotent. */
export async function raiseSchema(db: Db, version: number, raisedAt: Date): Promise<void> {
  const older = { _id: 'schema' as const, version: { $lt: version } };
  await metaOf(db).updateOne(older, { $set: { version, oldestBuild: build, raisedAt } });
}

/** Makes all processes stop looking for documents of the version before. Idempotent. */
export async function switchForms(db: Db, switchedAt: Date): Promise<void> {
  const notSwitched = { _id: 'schema' as const, raisedAt: { $exists: true }, switchedAt: { $exists: false } };
  await metaOf(db).updateOne(notSwitched, { $set: { switchedAt } });
}

/** Ends the upgrade, when no document of the version before is left. Idempotent. */
export async function endUpgrade(db: Db): Promise<void> {
  const switched = { _id: 'schema' as const, switchedAt: { $exists: true } };
  await metaOf(db).updateOne(switched, { $unset: { raisedAt: '', switchedAt: '' } });
}

interface InsertReply {
  writeErrors?: { code: number; keyPattern?: object }[];
}

/**
 * Requires that the database names the unique index that refuses an insert, as MongoDB does (`keyPattern`). The ledger has
 * two such indexes: by one it notices that a code was used, by the other that another process wrote the page first.
 * @param document exists already, so its insert is refused
 * @throws ConfigError for a database that does not name the index
 */
async function requireNamedIndexes(db: Db, document: SchemaDocument): Promise<void> {
  const insert = { insert: metaOf(db).collectionName, documents: [document], ordered: false };
  const reply: InsertReply = await db.command(insert).catch((error: unknown) => {
    if (isUnavailable(error)) return {}; // Not a reason to end the start: readiness reports it.
    throw error;
  });
  const [refusal] = reply.writeErrors ?? [];
  const namesNoIndex = refusal?.code === duplicateKey && refusal.keyPattern === undefined;
  if (!namesNoIndex) return;
  throw new ConfigError([
    'MONGODB_URI: the database does not say which unique index has refused a write (keyPattern). This service relies on that to charge a code once. It needs MongoDB itself, and no other database that speaks its protocol.',
  ]);
}

const unreadable = ({ databaseName }: Db, why: string) =>
  new ConfigError([
    `the database ${databaseName} was written by an earlier build (${why}), and this build cannot read it. Nothing was changed. ${useAnotherDatabase}`,
  ]);

function requireKnownVersion(db: Db, found: SchemaDocument, { version, oldest }: Versions): void {
  if (found.version > version)
    throw new ConfigError([`the database ${db.databaseName} cannot be used: ${tooOld(found, version)}.`]);
  if (found.version < oldest) throw unreadable(db, `it has schema version ${found.version}`);
}

async function requireNoRetiredCollections(db: Db): Promise<void> {
  const names = await db.listCollections({}, { nameOnly: true }).toArray();
  const found = names.map(({ name }) => name).filter((name) => retiredCollections.includes(name));
  if (found.length > 0) throw unreadable(db, `it has ${found.join(' and ')}`);
}

/**
 * Checks that this build knows the database's schema version. Writes the newest version into a new database. Call it before
 * anything else is written.
 * @throws ConfigError for a database of an earlier or newer build, which stays unchanged, or for one that is not MongoDB
 */
export async function requireSchema(db: Db, versions: Versions): Promise<void> {
  const meta = metaOf(db);
  const document = { _id: 'schema', version: versions.version, oldestBuild: build } as const;
  const found = await meta.findOne({ _id: 'schema' });
  if (found) {
    requireKnownVersion(db, found, versions);
  } else {
    await requireNoRetiredCollections(db);
    // A duplicate is of another process that starts at the same time.
    await unlessDuplicate(meta.insertOne(document));
  }
  await requireNamedIndexes(db, document);
}
