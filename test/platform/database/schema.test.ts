import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../server/platform/database/connect.ts';
import { requireSchema } from '../../../server/platform/database/schema/schema.ts';
import { databasePort, type FreshDatabase, freshDatabase, uriThrough } from '../../harness/database.ts';
import { type Refusal, startRefusingProxy } from '../refusing-proxy.ts';

const versions = { version: 5, oldest: 4 };

let database: FreshDatabase;
beforeEach(async () => {
  database = await freshDatabase({ keep: true });
});
afterEach(() => database.drop());

const collections = async () => {
  const found = await database.db.listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).toSorted();
};

describe('requireSchema, the check of the database at a start,', () => {
  it('writes the schema version into a new database once, even if two processes start', async () => {
    await Promise.all([requireSchema(database.db, versions), requireSchema(database.db, versions)]);
    await requireSchema(database.db, versions);
    expect(await database.db.collection('meta').find().toArray()).toEqual([
      { _id: 'schema', version: versions.version, oldestBuild: expect.any(String) },
    ]);
  });

  it.each(['wallets', 'accesses'])(
    'throws for a database of an early build (collection %s), names SVC_DATA_DIR as remedy, and changes nothing',
    async (name) => {
      await database.db.collection(name).insertOne({ old: true });
      await expect(requireSchema(database.db, versions)).rejects.toThrow(
        /earlier build.*another SVC_DATA_DIR/i,
      );
      expect(await collections()).toEqual([name]);
    },
  );

  it('accepts the schema version of the previous build, but throws for an older version and changes nothing', async () => {
    const meta = database.db.collection<{ _id: string; version: number }>('meta');
    await meta.insertOne({ _id: 'schema', version: versions.oldest });
    await requireSchema(database.db, versions);
    await meta.replaceOne({ _id: 'schema' }, { version: versions.oldest - 1 });
    await expect(requireSchema(database.db, versions)).rejects.toThrow(
      /earlier build \(it has schema version 3\).*Nothing was changed.*another SVC_DATA_DIR/,
    );
    expect(await meta.find().toArray()).toEqual([{ _id: 'schema', version: versions.oldest - 1 }]);
  });

  it('throws "start a newer build" for a database with a newer schema version', async () => {
    const meta = database.db.collection<{ _id: string; version: number }>('meta');
    await meta.insertOne({ _id: 'schema', version: versions.version + 1 });
    await expect(requireSchema(database.db, versions)).rejects.toThrow('start a newer build');
  });

  /** A connection to the database on which inserts into `meta` fail in this way. */
  async function answering(refusal: Refusal) {
    const proxy = await startRefusingProxy(databasePort());
    const uri = uriThrough(proxy, database);
    const { client, db } = await connect({ uri, embedded: false, appName: 'test' });
    onTestFinished(async () => {
      await client.close();
      proxy.stop();
    });
    proxy.refuse({ ...refusal, on: (command) => command['insert'] === 'meta' });
    return db;
  }

  it('throws a ConfigError for a database whose duplicate key errors do not name the index', async () => {
    await requireSchema(database.db, versions);
    const unnamed = await answering({ code: 11_000, codeName: 'DuplicateKey', by: 'document' });
    await expect(requireSchema(unnamed, versions)).rejects.toMatchObject({
      name: 'ConfigError',
      faults: [expect.stringMatching(/^MONGODB_URI: .*needs MongoDB itself/)],
    });
    expect(await database.db.collection('meta').countDocuments()).toBe(1);
  });

  it.each(['command', 'document'] as const)(
    'accepts a database whose disk is full, with an OutOfDiskSpace error for the %s',
    async (by) => {
      await requireSchema(database.db, versions);
      const full = await answering({ code: 14_031, codeName: 'OutOfDiskSpace', by });
      await expect(requireSchema(full, versions)).resolves.toBeUndefined();
    },
  );
});
