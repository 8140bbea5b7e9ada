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

describe('an insert of several documents in one database command', () => {
  it('returns "inserted" or "exists" for each document, and inserts the others if one exists', async () => {
    const group = [item('a'), item('old'), item('b', 'old'), item('c'), item('c')];
    expect(await insertEach(items, group)).toEqual(['inserted', 'exists', 'exists', 'inserted', 'exists']);
    expect(await stored()).toEqual(['a', 'c', 'old']);
  });

  it('is sent again if the connection ended before the command arrived', async () => {
    losses.push('command');
    expect(await insertEach(items, [item('a'), item('old')])).toEqual(['inserted', 'exists']);
  });

  it('reports documents as "exists" if the first reply was lost, and inserts each document once', async () => {
    losses.push('reply');
    expect(await insertEach(items, [item('a'), item('b')])).toEqual(['exists', 'exists']);
    expect(await stored()).toEqual(['a', 'b', 'old']);
  });

  it('throws if both the reply and the reply of the repetition are lost', async () => {
    losses.push('reply', 'reply');
    await expect(insertEach(items, [item('a')])).rejects.toThrow('the reply is lost');
  });
});

describe('a group of updates in one database command', () => {
  it('returns allMatched: true if each statement finds its document, and false if one finds none', async () => {
    expect((await updateEach(items, [next('old')])).allMatched).toBe(true);
    const some = await updateEach(items, [next('old', 1), next('old', 2)]);
    expect(some.allMatched).toBe(false);
    expect((await items.findOne({ _id: 'old' }))?.version).toBe(3);
  });

  it('returns the position of a statement that breaks a unique index, and applies the other statements', async () => {
    await insertEach(items, [item('a'), item('b')]);
    const taken = { updateOne: { filter: { _id: 'a' }, update: { $set: { name: 'old' } } } };
    const { allMatched, refused } = await updateEach(items, [taken, next('b')]);
    expect(allMatched).toBe(false);
    expect([...refused.keys()]).toEqual([0]);
    expect((await items.findOne({ _id: 'b' }))?.version).toBe(2);
  });

  it('is applied once after a lost reply, and then returns allMatched: false', async () => {
    losses.push('reply');
    expect((await updateEach(items, [next('old')])).allMatched).toBe(false);
    expect((await items.findOne({ _id: 'old' }))?.version).toBe(2);
  });
});
