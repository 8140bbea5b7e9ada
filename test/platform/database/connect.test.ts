import { MongoClient, MongoServerError } from 'mongodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connect, isDuplicateKey, isUnavailable } from '../../../server/platform/database/connect.ts';
import { ConfigError } from '../../../server/platform/errors.ts';
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

describe('connect, which opens the database of MONGODB_URI,', () => {
  it('uses the database that the URI names', async () => {
    const { db, name } = await freshDatabase();
    expect(db.databaseName).toBe(name);
    await db.collection<{ _id: string }>('things').insertOne({ _id: 'a' });
    expect(await db.collection('things').countDocuments()).toBe(1);
  });

  it('uses the database svc if the URI names none', async () => {
    const { db } = await connectTo({});
    expect(db.databaseName).toBe('svc');
  });

  it.each([
    [
      'uses majority concerns and retryWrites for a replica set',
      { setName: 'rs0', hosts: ['127.0.0.1:1'], logicalSessionTimeoutMinutes: 30 },
      true,
      true,
    ],
    [
      'uses majority concerns and retryWrites for a sharded cluster',
      { msg: 'isdbgrid', logicalSessionTimeoutMinutes: 30 },
      true,
      true,
    ],
    [
      'uses write concern 1, local reads and no retryWrites for a standalone server',
      { logicalSessionTimeoutMinutes: 30 },
      false,
      true,
    ],
    ['uses write concern 1, local reads and no retryWrites for the embedded engine', {}, false, false],
  ])('%s', async (_, greeting, retryableWrites, expiresDocuments) => {
    const { client, features } = await connectTo(greeting);
    const sharded = 'msg' in greeting;
    expect(features).toEqual({ retryableWrites, replicated: retryableWrites, expiresDocuments, sharded });
    expect(client.options.retryWrites).toBe(retryableWrites);
    expect(client.options.readConcern.level).toBe(retryableWrites ? 'majority' : 'local');
    expect(client.options.writeConcern).toMatchObject({ w: retryableWrites ? 'majority' : 1, journal: true });
  });

  const replicaSet = { setName: 'rs0', hosts: ['127.0.0.1:1'], logicalSessionTimeoutMinutes: 30 };

  it('uses the pool sizes, retryWrites and appName of the URI instead of its defaults', async () => {
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
      'the URI has retryWrites=true and the server is standalone',
      {},
      '&retryWrites=true',
      'retryWrites=true cannot be honoured',
    ],
    [
      'an option of the URI has a malformed value',
      {},
      '&maxPoolSize=many',
      'Expected maxPoolSize to be stringified int value',
    ],
    ['the URI repeats an option', {}, '&tls=true&tls=false', 'cannot appear more than once'],
    [
      'the minimum pool size is above the maximum',
      replicaSet,
      '&minPoolSize=30',
      'minimum size must not be greater',
    ],
    [
      'the URI names a CA file that does not exist',
      {},
      '&tls=true&tlsCAFile=/nowhere/ca.pem',
      '/nowhere/ca.pem',
    ],
    ['the server is MongoDB 4.4', { maxWireVersion: 9 }, '', 'older than MongoDB 5.0, the oldest version'],
    ['the server is MongoDB 4.2', { maxWireVersion: 8 }, '', 'maximum wire version 8'],
  ])('throws a ConfigError with the reason if %s', async (_, greeting, options, reason) => {
    const error = await errorOf(connectTo(greeting, options));
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).faults).toEqual([
      expect.stringMatching(new RegExp(`^MONGODB_URI: .*${reason.replaceAll('.', '\\.')}`)),
    ]);
  });

  it('throws an error without the password if the URI is malformed', async () => {
    const uri = 'mongodb://user:pass%word@127.0.0.1:1/svc?maxPoolSize=many';
    const error = await errorOf(connect({ uri, embedded: false, appName: 'test' }));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).not.toMatch(/pass|word/);
  });

  it('throws an error of unavailability if no server listens at the address', async () => {
    const error = await errorOf(connect({ uri: closedAddress, embedded: false, appName: 'test' }));
    expect(isUnavailable(error)).toBe(true);
  });
});

describe('isUnavailable, which tells database outages from other errors,', () => {
  it('is true for the error of a query if no server listens at the address', async () => {
    const client = new MongoClient(closedAddress, { serverSelectionTimeoutMS: 100 });
    onTestFinished(() => client.close());
    expect(isUnavailable(await errorOf(client.db().collection('a').findOne({})))).toBe(true);
  });

  it('is true for the error of a query on a closed client', async () => {
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
  ])('is true for an error of the database server with the code %i (%s)', (code, message) => {
    expect(isUnavailable(new MongoServerError({ code, message }))).toBe(true);
  });

  it.each(['RetryableWriteError', 'RetryableError', 'SystemOverloadedError'])(
    'is true for an error of the database server with the label %s and any code',
    (label) => {
      const error = new MongoServerError({ code: 999_999, message: 'later' });
      expect(isUnavailable(error)).toBe(false);
      error.addErrorLabel(label);
      expect(isUnavailable(error)).toBe(true);
    },
  );

  it('is false for a duplicate key error and for a TypeError', async () => {
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
