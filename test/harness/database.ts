import { randomBytes } from 'node:crypto';
import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { inject, onTestFinished } from 'vitest';
import { indexes } from '../../server/operations/schema/collections.ts';
import { groupBy } from '../../server/platform/batching/group-by.ts';
import { connect, type Database, longestScanMs } from '../../server/platform/database/connect.ts';

/** A connected database. `uri` names the database too, and is the MONGODB_URI of a server under test. */
export type FreshDatabase = Database & { uri: string; name: string; drop: () => Promise<void> };

const withDatabase = (uri: string, name: string): string => {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
};

/** The name of a database in its address, which may list several hosts. */
const nameIn = (uri: string): string => /^[^/]*\/\/[^/]*\/([^?]*)/.exec(uri)?.[1] ?? '';

const newName = () => `test_${randomBytes(6).toString('hex')}`;

/** Connects with a long time limit, because indexes take long if tests create many databases simultaneously. */
const connectTo = (uri: string): Promise<Database> =>
  connect({ uri, embedded: false, appName: 'test', answerWithinMs: longestScanMs });

/** Connects to a database once more, as another process does. */
export const connectAgain = ({ databaseName }: Db): Promise<Database> =>
  connectTo(withDatabase(inject('mongodbUri'), databaseName));

/** The port of the database of this run, which a proxy leads to. */
export const databasePort = (): number => Number(new URL(inject('mongodbUri')).port);

/** The address of a database through a proxy on this port. */
export const uriThrough = (proxy: { port: number }, { name }: Pick<FreshDatabase, 'name'>): string =>
  `mongodb://127.0.0.1:${proxy.port}/${name}?directConnection=true`;

/**
 * Creates a database that is dropped when the test ends. With `keep`, the caller drops it. Hooks such as `beforeAll` need
 * `keep`, because they run outside a test.
 */
export const freshDatabase = async ({ keep = false } = {}): Promise<FreshDatabase> => {
  const name = newName();
  const uri = withDatabase(inject('mongodbUri'), name);
  const database = await connectTo(uri);
  const drop = async (): Promise<void> => {
    await database.db.dropDatabase();
    await database.client.close();
  };
  if (!keep) onTestFinished(drop);
  return { ...database, uri, name, drop };
};

/**
 * Takes a database that no test uses now, of any process of this run. It is empty and has all indexes. Each has a file, which
 * only one process can delete.
 */
function takeUnused(): string | undefined {
  const folder = inject('unusedDatabases');
  for (const name of readdirSync(folder)) {
    try {
      unlinkSync(join(folder, name));
      return name;
    } catch {
      // Another process has just taken it.
    }
  }
  return undefined;
}

/** The names of databases with all indexes that this process has used. */
const preparedNames = new Set<string>();

/** Whether the address names a database with all indexes. */
export const isPrepared = (uri: string): boolean => preparedNames.has(nameIn(uri));

/** Deletes all documents, by one command, because one for each collection takes several times the processor time. */
async function empty(db: Db): Promise<void> {
  const used = await db.collections();
  await db.client.bulkWrite(used.map(({ namespace }) => ({ name: 'deleteMany', namespace, filter: {} })));
}

/** The connection by which this process creates and empties the databases of servers under test. */
let sharedConnection: Promise<Database> | undefined;

const connectOnce = (): Promise<Database> => {
  sharedConnection ??= connectTo(inject('mongodbUri'));
  return sharedConnection;
};

/** Creates all declared indexes by one command for each collection, which takes half the time of `ensureIndexes`. */
async function createIndexes(db: Db): Promise<void> {
  for (const [collection, declared] of groupBy(indexes, (index) => index.collection))
    await db.collection(collection).createIndexes(declared.map(({ collection: _, ...index }) => index));
}

type ServerDatabase = Pick<FreshDatabase, 'db' | 'uri' | 'drop'>;

/** Returns the database with this address, which another part of the test has made and drops. */
export async function databaseAt(uri: string): Promise<ServerDatabase> {
  const { client } = await connectOnce();
  return { db: client.db(nameIn(uri)), uri, drop: async () => undefined };
}

/**
 * Returns a database with all indexes for a server under test. `drop` empties the database and keeps it for another server,
 * because to create indexes takes most of a server's start. With `once`, `drop` deletes the database instead, because
 * unfinished work may still write to it.
 */
export async function databaseOfServer({ once = false } = {}): Promise<ServerDatabase> {
  const { client } = await connectOnce();
  const reusedName = once ? undefined : takeUnused();
  const name = reusedName ?? newName();
  const db = client.db(name);
  if (reusedName === undefined) await createIndexes(db);
  preparedNames.add(name);
  const drop = async (): Promise<void> => {
    if (once) return void (await db.dropDatabase());
    await empty(db);
    writeFileSync(join(inject('unusedDatabases'), name), '');
  };
  return { db, uri: withDatabase(inject('mongodbUri'), name), drop };
}

/**
 * Returns a connected database with all indexes, for one test. When the test ends, the connection is closed before the
 * database is emptied, so that unfinished work of the test cannot write to it.
 */
export async function preparedDatabase(): Promise<Database> {
  const { uri, drop } = await databaseOfServer();
  const database = await connectTo(uri);
  onTestFinished(async () => {
    await database.client.close();
    await drop();
  });
  return database;
}
