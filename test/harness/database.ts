import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { connect, type Database, longestScanMs } from '../../server/platform/database/connect.ts';
import { ensureIndexes } from '../../server/platform/database/indexes.ts';
import { indexes } from '../../server/wiring/indexes.ts';

/** `uri` also names the database. A server under test gets it as MONGODB_URI. */
export type FreshDatabase = Database & { uri: string; name: string; drop: () => Promise<void> };

const withDatabase = (uri: string, name: string): string => {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
};

const newName = () => `test_${randomBytes(6).toString('hex')}`;

/** On a busy machine many databases are created simultaneously, so their indexes take long. */
const connectTo = (uri: string): Promise<Database> =>
  connect({ uri, embedded: false, appName: 'test', answerWithinMs: longestScanMs });

/**
 * A new database on the run's database server. Called within a test, it is dropped when the test ends. In a hook such
 * as `beforeAll` with `keep`, the caller drops it.
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

/** Databases of this process that no test uses now. They are empty and have all indexes. */
const prepared: string[] = [];

/** One connection of this process for the databases of all servers under test, which also connect by themselves. */
let shared: Promise<Database> | undefined;

/**
 * A database for a server under test with all indexes, which take most of a server's start. The caller returns it, and
 * it is emptied for another server. With `once` it is removed, because something may write to it later.
 */
export async function databaseOfServer({
  once = false,
} = {}): Promise<Pick<FreshDatabase, 'db' | 'uri' | 'drop'>> {
  shared ??= connectTo(inject('mongodbUri'));
  const { client } = await shared;
  const again = once ? undefined : prepared.pop();
  const name = again ?? newName();
  const db = client.db(name);
  if (again === undefined) await ensureIndexes(db, indexes);
  const drop = async (): Promise<void> => {
    if (once) return void (await db.dropDatabase());
    await Promise.all((await db.collections()).map((each) => each.deleteMany({})));
    prepared.push(name);
  };
  return { db, uri: withDatabase(inject('mongodbUri'), name), drop };
}

/**
 * A database with all indexes, for one test. Its connection is closed before the database is emptied, so that
 * unfinished work of the test cannot write.
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
