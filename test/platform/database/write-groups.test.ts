import type { Collection } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { insertEach, updateEach } from '../../../server/platform/database/write-groups.ts';
import { freshDatabase } from '../../harness/database.ts';
import { lossyDatabase } from './lossy.ts';

interface Item {
  _id: string;
  name: string;
  version: number;
}

let items: Collection<Item>;
let losses: ReturnType<typeof lossyDatabase>['losses'];
beforeEach(async () => {
  const lossy = lossyDatabase((await freshDatabase()).db);
  losses = lossy.losses;
  items = lossy.db.collection<Item>('items');
  await items.createIndex({ name: 1 }, { unique: true });
  await items.insertOne({ _id: 'old', name: 'old', version: 1 });
});

const item = (_id: string, name = _id): Item => ({ _id, name, version: 1 });
const stored = async () => (await items.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
const next = (_id: string, version = 1) => ({
  updateOne: { filter: { _id, version }, update: { $inc: { version: 1 } } },
});

describe('a group insert', () => {
  it('returns a result for each document, and an existing document does not fail the others', async () => {
    const group = [item('a'), item('old'), item('b', 'old'), item('c'), item('c')];
    expect(await insertEach(items, group)).toEqual(['inserted', 'exists', 'exists', 'inserted', 'exists']);
    expect(await stored()).toEqual(['a', 'c', 'old']);
  });

  it('is sent again after a lost command', async () => {
    losses.push('command');
    expect(await insertEach(items, [item('a'), item('old')])).toEqual(['inserted', 'exists']);
  });

  it('inserts each document once and fails none after a lost reply', async () => {
    losses.push('reply');
    expect(await insertEach(items, [item('a'), item('b')])).toEqual(['exists', 'exists']);
    expect(await stored()).toEqual(['a', 'b', 'old']);
  });

  it('fails if the second reply is lost as well', async () => {
    losses.push('reply', 'reply');
    await expect(insertEach(items, [item('a')])).rejects.toThrow('the reply is lost');
  });
});

describe('a group of updates', () => {
  it('reports whether all statements matched', async () => {
    expect((await updateEach(items, [next('old')])).allMatched).toBe(true);
    const some = await updateEach(items, [next('old', 1), next('old', 2)]);
    expect(some.allMatched).toBe(false);
    expect((await items.findOne({ _id: 'old' }))?.version).toBe(3);
  });

  it('names a refused statement, and applies the others', async () => {
    await insertEach(items, [item('a'), item('b')]);
    const taken = { updateOne: { filter: { _id: 'a' }, update: { $set: { name: 'old' } } } };
    const { allMatched, refused } = await updateEach(items, [taken, next('b')]);
    expect(allMatched).toBe(false);
    expect([...refused.keys()]).toEqual([0]);
    expect((await items.findOne({ _id: 'b' }))?.version).toBe(2);
  });

  it('is applied once after a lost reply', async () => {
    losses.push('reply');
    expect((await updateEach(items, [next('old')])).allMatched).toBe(false);
    expect((await items.findOne({ _id: 'old' }))?.version).toBe(2);
  });
});
