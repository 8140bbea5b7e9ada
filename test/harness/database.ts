import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { connect, type Database, longestScanMs } from '../../server/platform/database/connect.ts';
import { ensureIndexes } from '../../server/platform/database/indexes.ts';
import { indexes } from '../../server/wiring/indexes.ts';

/** A connected database. `uri` names the database too, and is the MONGODB_URI of a server under test. */
export type FreshDatabase = Database & { uri: string; name: string; drop: () => Promise<void> };

const withDatabase = (uri: string, name: string): string => {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
};

const newName = () => `test_${randomBytes(6).toString('hex')}`;

/** Connects with a long time limit, because indexes take long if tests create many databases simultaneously. */
const connectTo = (uri: string): Promise<Database> =>
  connect({ uri, embedded: false, appName: 'test', answerWithinMs: longestScanMs });

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

/** The names of databases of this process that no test uses now. They are empty and have all indexes. */
const unusedNames: string[] = [];

/** The connection by which this process creates and empties the databases of servers under test. */
let sharedConnection: Promise<Database> | undefined;

/**
 * Returns a database with all indexes for a server under test. `drop` empties the database and keeps it for another server,
 * because to create indexes takes most of a server's start. With `once`, `drop` deletes the database instead, because
 * unfinished work may still write to it.
 */
export async function databaseOfServer({
  once = false,
} = {}): Promise<Pick<FreshDatabase, 'db' | 'uri' | 'drop'>> {
  sharedConnection ??= connectTo(inject('mongodbUri'));
  const { client } = await sharedConnection;
  const reusedName = once ? undefined : unusedNames.pop();
  const name = reusedName ?? newName();
  const db = client.db(name);
  if (reusedName === undefined) await ensureIndexes(db, indexes);
  const drop = async (): Promise<void> => {
    if (once) return void (await db.dropDatabase());
    await Promise.all((await db.collections()).map((each) => each.deleteMany({})));
    unusedNames.push(name);
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
