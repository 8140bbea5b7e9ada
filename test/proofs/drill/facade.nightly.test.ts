import { type Db, MongoClient, type MongoServerError } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../simulation/random.ts';
import { openReal } from './cluster.ts';
import { electionKinds, type ReplicaSet, startReplicaSet } from './facade/replica-set.ts';

let set: ReplicaSet;
let client: MongoClient;
let db: Db;
let faults: unknown[];

beforeEach(async () => {
  faults = [];
  set = await startReplicaSet({ random: createRandom(7), onFault: (error) => faults.push(error) });
  client = await new MongoClient(set.uri('facade'), {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority' },
  }).connect();
  db = client.db();
});

afterEach(async () => {
  await client.close();
  await set.close();
  expect(faults).toEqual([]);
});

interface Item {
  _id: string;
  value?: number;
}

const items = () => db.collection<Item>('items');
const local = () => db.collection<Item>('items', { readConcern: { level: 'local' }, writeConcern: { w: 1 } });

describe('reads and writes of the simulated replica set', () => {
  it('return only committed writes for read concern majority, and uncommitted ones too for local', async () => {
    await items().insertOne({ _id: 'committed' });
    await set.current().pause();
    await local().insertOne({ _id: 'uncommitted' });
    expect(await items().distinct('_id')).toEqual(['committed']);
    expect(await local().distinct('_id')).toEqual(['committed', 'uncommitted']);
    await set.current().advance();
    expect(await items().distinct('_id')).toEqual(['committed', 'uncommitted']);
  });

  it('store a 64-bit integer as a long and 1.5 as a double', async () => {
    await db.command({ insert: 'items', documents: [{ _id: 'long', value: 1n, double: 1.5 }] });
    const stored = await items().findOne({
      _id: 'long',
      value: { $type: 'long' },
      double: { $type: 'double' },
    });
    expect(stored?._id).toBe('long');
  });

  it('apply a retried write once and return the same reply', async () => {
    await items().insertOne({ _id: 'counter', value: 0 });
    const session = client.startSession();
    const command = {
      findAndModify: 'items',
      query: { _id: 'counter' },
      update: { $inc: { value: 1 } },
      new: true,
      lsid: session.id,
      txnNumber: 1n,
      $db: 'facade',
    };
    const branch = set.current();
    const { lsid, txnNumber, ...forwarded } = command;
    const first = await branch.write(command, forwarded);
    const second = await branch.write(command, forwarded);
    expect(lsid).toBeDefined();
    expect(txnNumber).toBe(1n);
    expect(second.reply).toEqual(first.reply);
    expect(await second.majority()).toBeUndefined();
    expect(await items().findOne({ _id: 'counter' })).toMatchObject({ value: 1 });
    await session.endSession();
  });
});

it('the drill sends replSetStepDown to elect a new primary if the replica set has its own address', async () => {
  const { uri, elect, close } = await openReal(set.uri('other'));
  expect(uri).toMatch(/\/svc_drill_\d+\?replicaSet=drill$/);
  const before = set.current();
  expect(await elect()).toEqual({ kind: 'step-down' });
  expect(before.hasEnded()).toBe(true);
  expect(set.current()).not.toBe(before);
  await close();
});

describe.each(electionKinds)('an election of the kind %s', (kind) => {
  it('rolls back writes without a majority, preserves the others, and the driver then reconnects', async () => {
    await db.createIndex('items', { value: 1 }, { unique: true });
    const kept = [
      { _id: 'kept', value: 1 },
      { _id: 'changed', value: 2 },
      { _id: 'deleted', value: 3 },
    ];
    await items().insertMany(kept);
    await set.current().pause();
    await local().insertOne({ _id: 'inserted', value: 4 });
    await local().updateOne({ value: 2 }, { $set: { value: 5 } });
    await local().findOneAndDelete({ value: 3 });
    const waiting = items().insertOne({ _id: 'acknowledged', value: 6 });
    const outcome = waiting.then(
      () => 'acknowledged',
      (error: MongoServerError) => error.message,
    );
    const { rolledBack, hasSilentCommits } = await set.elect(kind);
    const answer = await outcome;
    const found = await items().find().sort({ value: 1 }).toArray();
    const all = await local().find().sort({ value: 1 }).toArray();
    expect(all).toEqual(found);
    expect(found.some(({ _id }) => _id === 'acknowledged') || answer !== 'acknowledged').toBe(true);
    const rest = found.filter(({ _id }) => _id !== 'acknowledged');
    if (hasSilentCommits) {
      expect(rest.map(({ _id, value }) => `${_id} ${value}`)).toEqual(['kept 1', 'inserted 4', 'changed 5']);
    } else {
      expect(rest).toEqual(kept);
      expect(rolledBack).toBeGreaterThanOrEqual(3);
    }
    await items().insertOne({ _id: 'later', value: 4_000 });
    expect(await items().findOne({ _id: 'later' })).not.toBeNull();
  });
});
