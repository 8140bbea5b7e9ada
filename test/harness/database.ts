import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import { connect, type Database } from '../../server/platform/database/connect.ts';

/** `uri` names the database too: what a server under test takes as its MONGODB_URI. */
export type FreshDatabase = Database & { uri: string; name: string; drop: () => Promise<void> };

const withDatabase = (uri: string, name: string): string => {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
};

/**
 * An empty database of its own on the run's database server. Called within a test, it is dropped when the test
 * ends; called in a hook such as `beforeAll` with `keep`, the caller drops it.
 */
export const freshDatabase = async ({ keep = false } = {}): Promise<FreshDatabase> => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const uri = withDatabase(inject('mongodbUri'), name);
  const database = await connect({ uri, embedded: false, appName: 'test' });
  const drop = async (): Promise<void> => {
    await database.db.dropDatabase();
    await database.client.close();
  };
  if (!keep) onTestFinished(drop);
  return { ...database, uri, name, drop };
};
