import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { connect, type Database } from '../../server/platform/database/connect.ts';
import { ensureIndexes } from '../../server/platform/database/indexes.ts';
import { indexes } from '../../server/wiring/indexes.ts';

/** `uri` names the database too: what a server under test takes as its MONGODB_URI. */
export type FreshDatabase = Database & { uri: string; name: string; drop: () => Promise<void> };

const withDatabase = (uri: string, name: string): string => {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
};

const newName = () => `test_${randomBytes(6).toString('hex')}`;

async function open(name: string, end: (database: Database) => Promise<unknown>): Promise<FreshDatabase> {
  const uri = withDatabase(inject('mongodbUri'), name);
  const database = await connect({ uri, embedded: false, appName: 'test' });
  const drop = async (): Promise<void> => {
    await end(database);
    await database.client.close();
  };
  return { ...database, uri, name, drop };
}

/**
 * An empty database of its own on the run's database server. Called within a test, it is dropped when the test
 * ends; called in a hook such as `beforeAll` with `keep`, the caller drops it.
 */
export const freshDatabase = async ({ keep = false } = {}): Promise<FreshDatabase> => {
  const database = await open(newName(), ({ db }) => db.dropDatabase());
  if (!keep) onTestFinished(database.drop);
  return database;
};

/** Databases of this process that no test uses any more: empty, with all indexes. */
const prepared: string[] = [];

async function empty({ db }: Database): Promise<void> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  await Promise.all(collections.map(({ name }) => db.collection(name).deleteMany({})));
}

/**
 * The same with all indexes of a server, which are most of what its start takes. What one test is done with is emptied for
 * another one; `once`: it is dropped, because something may write to it after its end.
 */
export const preparedDatabase = async ({ keep = false, once = false } = {}): Promise<FreshDatabase> => {
  const again = once ? undefined : prepared.pop();
  const name = again ?? newName();
  const database = await open(name, async (ended) => {
    if (once) return void (await ended.db.dropDatabase());
    await empty(ended);
    prepared.push(name);
  });
  if (again === undefined) await ensureIndexes(database.db, indexes);
  if (!keep) onTestFinished(database.drop);
  return database;
};
