import { MongoClient, MongoServerError } from 'mongodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../server/platform/config/config.ts';
import { connect, isDuplicateKey, isUnavailable } from '../../../server/platform/database/connect.ts';
import { freshDatabase } from '../../harness/database.ts';
import { startDeployment } from './deployment.ts';

const closedAddress = 'mongodb://127.0.0.1:1/nothing';

const connectTo = async (greeting: Record<string, unknown>, options = '') => {
  const uri = `${await startDeployment(greeting)}${options}`;
  const database = await connect({ uri, embedded: false, appName: 'test' });
  onTestFinished(() => database.client.close());
  return database;
};

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('connect', () => {
  it('uses the database that the address names', async () => {
    const { db, name } = await freshDatabase();
    expect(db.databaseName).toBe(name);
    await db.collection<{ _id: string }>('things').insertOne({ _id: 'a' });
    expect(await db.collection('things').countDocuments()).toBe(1);
  });

  it('uses the database svc if the address names none', async () => {
    const { db } = await connectTo({});
    expect(db.databaseName).toBe('svc');
  });

  it.each([
    [
      'a replica set',
      { setName: 'rs0', hosts: ['127.0.0.1:1'], logicalSessionTimeoutMinutes: 30 },
      true,
      true,
    ],
    ['a sharded cluster', { msg: 'isdbgrid', logicalSessionTimeoutMinutes: 30 }, true, true],
    ['a standalone server', { logicalSessionTimeoutMinutes: 30 }, false, true],
    ['the embedded engine', {}, false, false],
  ])(
    'chooses write concern, read concern and retryWrites that suit %s',
    async (_, greeting, retryableWrites, expiresDocuments) => {
      const { client, features } = await connectTo(greeting);
      const sharded = 'msg' in greeting;
      expect(features).toEqual({ retryableWrites, replicated: retryableWrites, expiresDocuments, sharded });
      expect(client.options.retryWrites).toBe(retryableWrites);
      expect(client.options.readConcern.level).toBe(retryableWrites ? 'majority' : 'local');
      expect(client.options.writeConcern).toMatchObject({
        w: retryableWrites ? 'majority' : 1,
        journal: true,
      });
    },
  );

  const replicaSet = { setName: 'rs0', hosts: ['127.0.0.1:1'], logicalSessionTimeoutMinutes: 30 };

  it('uses the pool size, retryWrites and appName of the address instead of its own', async () => {
    const own = await connectTo(replicaSet);
    expect(own.client.options).toMatchObject({ maxPoolSize: 20, appName: 'test', retryWrites: true });
    const { client, features } = await connectTo(
      replicaSet,
      '&MAXPOOLSIZE=7&minPoolSize=3&maxIdleTimeMS=5000&retryWrites=false&appName=Cluster0',
    );
    expect(client.options).toMatchObject({
      ...{ maxPoolSize: 7, minPoolSize: 3, maxIdleTimeMS: 5_000, retryWrites: false, appName: 'Cluster0' },
    });
    expect(features).toMatchObject({ retryableWrites: false, replicated: true });
    expect(client.options.writeConcern).toMatchObject({ w: 'majority', journal: true });
  });

  it.each([
    [
      'retryWrites=true on a standalone server',
      {},
      '&retryWrites=true',
      'retryWrites=true cannot be honoured',
    ],
    [
      'an option with a malformed value',
      {},
      '&maxPoolSize=many',
      'Expected maxPoolSize to be stringified int value',
    ],
    ['a repeated option', {}, '&tls=true&tls=false', 'cannot appear more than once'],
    [
      'a minimum pool size above the maximum',
      replicaSet,
      '&minPoolSize=30',
      'minimum size must not be greater',
    ],
    ['a file that does not exist', {}, '&tls=true&tlsCAFile=/nowhere/ca.pem', '/nowhere/ca.pem'],
    ['MongoDB 4.4', { maxWireVersion: 9 }, '', 'older than MongoDB 5.0, the oldest version'],
    ['MongoDB 4.2', { maxWireVersion: 8 }, '', 'maximum wire version 8'],
  ])('throws a ConfigError for %s', async (_, greeting, options, reason) => {
    const error = await errorOf(connectTo(greeting, options));
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).faults).toEqual([
      expect.stringMatching(new RegExp(`^MONGODB_URI: .*${reason.replaceAll('.', '\\.')}`)),
    ]);
  });

  it('throws an error that does not contain the password of the address', async () => {
    const uri = 'mongodb://user:pass%word@127.0.0.1:1/svc?maxPoolSize=many';
    const error = await errorOf(connect({ uri, embedded: false, appName: 'test' }));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).not.toMatch(/pass|word/);
  });

  it('throws an unavailable error if no server listens at the address', async () => {
    const error = await errorOf(connect({ uri: closedAddress, embedded: false, appName: 'test' }));
    expect(isUnavailable(error)).toBe(true);
  });
});

describe('isUnavailable', () => {
  it('is true if no server listens at the address', async () => {
    const client = new MongoClient(closedAddress, { serverSelectionTimeoutMS: 100 });
    onTestFinished(() => client.close());
    expect(isUnavailable(await errorOf(client.db().collection('a').findOne({})))).toBe(true);
  });

  it('is true for a closed client', async () => {
    const client = new MongoClient(inject('mongodbUri'));
    await client.connect();
    await client.close();
    expect(isUnavailable(await errorOf(client.db().collection('a').findOne({})))).toBe(true);
  });

  it.each([
    [10107, 'not primary'],
    [64, 'waiting for replication timed out'],
    [8_000, 'you are over your space quota'],
    [371, 'User writes blocked'],
    [112, 'write conflict'],
    [11_601, 'operation was interrupted'],
  ])('is true for the server error %i, %s', (code, message) => {
    expect(isUnavailable(new MongoServerError({ code, message }))).toBe(true);
  });

  it.each(['RetryableWriteError', 'RetryableError', 'SystemOverloadedError'])(
    'is true for a server error with the label %s and any code',
    (label) => {
      const error = new MongoServerError({ code: 999_999, message: 'later' });
      expect(isUnavailable(error)).toBe(false);
      error.addErrorLabel(label);
      expect(isUnavailable(error)).toBe(true);
    },
  );

  it('is false for a duplicate key, and for an error of the service', async () => {
    const { db } = await freshDatabase();
    const things = db.collection<{ _id: string }>('things');
    await things.insertOne({ _id: 'a' });
    const refused = await errorOf(things.insertOne({ _id: 'a' }));
    expect(isDuplicateKey(refused)).toBe(true);
    expect(isUnavailable(refused)).toBe(false);
    expect(isUnavailable(new TypeError('no'))).toBe(false);
    expect(isDuplicateKey(new TypeError('no'))).toBe(false);
  });
});
