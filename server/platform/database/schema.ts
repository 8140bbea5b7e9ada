import type { Collection, Db } from 'mongodb';
import { ConfigError } from '../config/config.ts';
import { version as build } from '../config/version.ts';
import { duplicateKey, isDuplicateKey, isUnavailable } from './failures.ts';

/** The newest version of the documents that this build reads and writes; it reads the one before as well. */
export const schemaVersion = 3;

/** Collections of builds before schema version 1. */
const retired = ['wallets', 'accesses'];

interface SchemaDocument {
  _id: 'schema';
  /** A build that knows no version as new as this one must not use the database. */
  version: number;
  /** The oldest build that can read it, for messages. */
  oldestBuild?: string;
  /** When an upgrade to it was finished; gone when nothing of the version before is left. */
  raisedAt?: Date;
  /** From when on nothing looks for documents of the version before. */
  switchedAt?: Date;
}

/**
 * Which forms of documents a process meets. `old`: builds of the version before may run, and the old form is written for them.
 * `both`: no such build can run any more, and documents that they have left are still of use. `new`: there are none.
 */
export type Forms = 'old' | 'both' | 'new';
/** As this process knows it: 10 s ago at most. */
export type KnownForms = () => Forms;
export const onlyNew: KnownForms = () => 'new';

const elsewhere = 'Use another SVC_DATA_DIR, or another database in MONGODB_URI.';
const metaOf = (db: Db): Collection<SchemaDocument> => db.collection<SchemaDocument>('meta');

const tooOld = ({ version, oldestBuild }: Pick<SchemaDocument, 'version' | 'oldestBuild'>) =>
  `it has schema version ${version}, and this build (${build}) knows ${schemaVersion}: start a newer build${
    oldestBuild === undefined ? '' : `, ${oldestBuild} or later`
  }`;

/** The version of the documents in the database, the oldest build that can read them, and which forms they have. */
export interface SchemaState extends Omit<SchemaDocument, '_id'> {
  forms: Forms;
}

export async function readSchema(db: Db): Promise<SchemaState> {
  const none: SchemaDocument = { _id: 'schema', version: schemaVersion };
  const { _id, ...found } = (await metaOf(db).findOne({ _id: 'schema' })) ?? none;
  const isRead = found.raisedAt !== undefined && found.switchedAt === undefined;
  return { ...found, forms: found.version < schemaVersion ? 'old' : isRead ? 'both' : 'new' };
}

/**
 * Follows the schema version while a process runs: an upgrade may be finished beside it.
 * @param known the newest version that this build reads
 */
export async function watchSchema(db: Db, known = schemaVersion) {
  let { forms } = await readSchema(db);
  return {
    forms: () => forms,

    /** @returns why this build must not use the database any more; undefined where it may */
    async refresh(): Promise<string | undefined> {
      const state = await readSchema(db);
      ({ forms } = state);
      return state.version > known ? tooOld(state) : undefined;
    },
  };
}

/** From now on older builds do not start, and those that run stop their work. Idempotent. */
export async function raiseSchema(db: Db, version: number, raisedAt: Date): Promise<void> {
  const older = { _id: 'schema' as const, version: { $lt: version } };
  await metaOf(db).updateOne(older, { $set: { version, oldestBuild: build, raisedAt } });
}

/** From now on no process looks for documents of the version before. Idempotent. */
export async function switchForms(db: Db, switchedAt: Date): Promise<void> {
  const both = { _id: 'schema' as const, raisedAt: { $exists: true }, switchedAt: { $exists: false } };
  await metaOf(db).updateOne(both, { $set: { switchedAt } });
}

/** Nothing of the version before is left. Idempotent. */
export async function endUpgrade(db: Db): Promise<void> {
  const switched = { _id: 'schema' as const, switchedAt: { $exists: true } };
  await metaOf(db).updateOne(switched, { $unset: { raisedAt: '', switchedAt: '' } });
}

interface InsertReply {
  writeErrors?: { code: number; keyPattern?: object }[];
}

/**
 * Inserts the schema document again. MongoDB names the unique index that refuses it. The ledger needs that name: it tells
 * a page of another process from a code that was used.
 * @throws ConfigError for a database that does not name it
 */
async function requireNamedRefusals(db: Db, document: SchemaDocument): Promise<void> {
  const again = { insert: metaOf(db).collectionName, documents: [document], ordered: false };
  const reply: InsertReply = await db.command(again).catch((error: unknown) => {
    if (isUnavailable(error)) return {}; // readiness says so
    throw error;
  });
  const [refusal] = reply.writeErrors ?? [];
  if (refusal?.code !== duplicateKey || refusal.keyPattern !== undefined) return;
  throw new ConfigError([
    'MONGODB_URI: the database does not say which unique index has refused a write (keyPattern). This service relies on that to charge a code once. It needs MongoDB itself, and no other database that speaks its protocol.',
  ]);
}

async function requireNothingOlder(db: Db): Promise<void> {
  const names = await db.listCollections({}, { nameOnly: true }).toArray();
  const old = names.map(({ name }) => name).filter((name) => retired.includes(name));
  if (old.length === 0) return;
  throw new ConfigError([
    `the database ${db.databaseName} was written by an earlier build (it has ${old.join(' and ')}), and this build cannot read it. Nothing was changed. ${elsewhere}`,
  ]);
}

/**
 * Compares the database's schema version with that of this build, and writes it into a new database. To be called before
 * anything else is written.
 * @throws ConfigError for a database of an earlier or a newer build, in which nothing has been changed then, and for one that
 *   is not MongoDB
 */
export async function requireSchema(db: Db): Promise<void> {
  const meta = metaOf(db);
  const document = { _id: 'schema', version: schemaVersion, oldestBuild: build } as const;
  const found = await meta.findOne({ _id: 'schema' });
  if (found && found.version > schemaVersion)
    throw new ConfigError([`the database ${db.databaseName} cannot be used: ${tooOld(found)}.`]);
  if (!found) {
    await requireNothingOlder(db);
    await meta.insertOne(document).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
  await requireNamedRefusals(db, document);
}
