import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireSchema, schemaVersion } from '../../../server/platform/database/schema.ts';
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts';

let database: FreshDatabase;
beforeEach(async () => {
  database = await freshDatabase({ keep: true });
});
afterEach(() => database.drop());

const collections = async () => {
  const found = await database.db.listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).toSorted();
};

describe('the schema version', () => {
  it('is written into a new database, once however many processes start', async () => {
    await Promise.all([requireSchema(database.db), requireSchema(database.db)]);
    await requireSchema(database.db);
    expect(await database.db.collection('meta').find().toArray()).toEqual([
      { _id: 'schema', version: schemaVersion, oldestBuild: expect.any(String) },
    ]);
  });

  it.each(['wallets', 'accesses'])(
    'a database with the collection %s is refused and left as it was',
    async (name) => {
      await database.db.collection(name).insertOne({ old: true });
      await expect(requireSchema(database.db)).rejects.toThrow(/earlier build.*another SVC_DATA_DIR/i);
      expect(await collections()).toEqual([name]);
    },
  );

  it('a database of a newer build is refused', async () => {
    const meta = database.db.collection<{ _id: string; version: number }>('meta');
    await meta.insertOne({ _id: 'schema', version: schemaVersion + 1 });
    await expect(requireSchema(database.db)).rejects.toThrow('start a newer build');
  });
});
