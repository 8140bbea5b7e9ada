import { type Db, type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createJointReads } from '../../../server/platform/database/reads/joint-reads.ts';
import { freshDatabase } from '../../harness/database.ts';

/** A database with two collections, and the commands that it receives. */
async function harness({ fail }: { fail?: (n: number) => Error | undefined } = {}) {
  const { db } = await freshDatabase();
  const commands: Document[] = [];
  const through = new Proxy(db, {
    get(target, name) {
      if (name === 'command') {
        return async (command: Document) => {
          commands.push(command);
          const error = fail?.(commands.length);
          if (error) throw error;
          return target.command(command);
        };
      }
      return Reflect.get(target, name, target);
    },
  }) as Db;
  await db.collection<{ _id: string; name: string; more: number }>('people').insertMany([
    { _id: 'a', name: 'Ada', more: 1 },
    { _id: 'b', name: 'Bo', more: 2 },
  ]);
  await db.collection<{ _id: string; color: string }>('cats').insertMany([
    { _id: 'a', color: 'grey' },
    { _id: 'c', color: 'white' },
  ]);
  return { commands, read: createJointReads(through) };
}

const person = (...ids: string[]) => ({
  collection: 'people',
  filter: { _id: { $in: ids } },
  projection: { name: 1 as const },
});
const cat = (...ids: string[]) => ({
  collection: 'cats',
  filter: { _id: { $in: ids } },
  projection: { color: 1 as const },
});

describe('database reads in the same turn of the event loop', () => {
  it('share one command, and each gets its own documents', async () => {
    const { commands, read } = await harness();
    const [people, cats, none, more] = await Promise.all([
      read(person('a', 'b')),
      read(cat('a')),
      read(cat('x')),
      read(person('b')),
    ]);
    expect(people).toEqual([
      { _id: 'a', name: 'Ada' },
      { _id: 'b', name: 'Bo' },
    ]);
    expect([cats, none, more]).toEqual([[{ _id: 'a', color: 'grey' }], [], [{ _id: 'b', name: 'Bo' }]]);
    expect(commands).toHaveLength(1);
  });

  it("all reject with the database's error if their common command fails", async () => {
    const { read } = await harness({ fail: () => new MongoServerError({ message: 'no', code: 13 }) });
    const results = await Promise.allSettled([read(person('a')), read(cat('a'))]);
    expect(results).toMatchObject([{ reason: { code: 13 } }, { reason: { code: 13 } }]);
  });
});

describe('a database read', () => {
  it('is sent as a find command if it is the only one in its turn', async () => {
    const { commands, read } = await harness();
    expect(await read(person('b'))).toEqual([{ _id: 'b', name: 'Bo' }]);
    expect(await read(cat('c'))).toEqual([{ _id: 'c', color: 'white' }]);
    expect(commands.map((command) => Object.keys(command)[0])).toEqual(['find', 'find']);
  });

  it("returns more documents than the database's usual first batch", async () => {
    const { read } = await harness();
    const { db } = await freshDatabase();
    const ids = Array.from({ length: 500 }, (_, n) => `id ${n}`);
    await db.collection<{ _id: string }>('people').insertMany(ids.map((_id) => ({ _id })));
    expect(await read(person('a'))).toHaveLength(1);
    const many = createJointReads(db);
    const [all, other] = await Promise.all([many(person(...ids)), many(cat('a'))]);
    expect([all.length, other.length]).toEqual([500, 0]);
    expect(await many(person(...ids))).toHaveLength(500);
  });

  it('returns at most `limit` documents, alone and with other reads', async () => {
    const { read } = await harness();
    const onePerson = { ...person('a', 'b'), limit: 1 };
    expect(await read(onePerson)).toHaveLength(1);
    const [people, cats] = await Promise.all([read(onePerson), read({ ...cat('a', 'c'), limit: 1 })]);
    expect([people.length, cats.length]).toEqual([1, 1]);
  });

  it.each([
    ['its connection ends', new MongoNetworkError('connection closed')],
    ['the server is no longer the primary', new MongoServerError({ message: 'not primary', code: 10_107 })],
  ])('is sent once more if %s', async (_, error) => {
    const { commands, read } = await harness({ fail: (n) => (n === 1 ? error : undefined) });
    expect(await read(person('a'))).toEqual([{ _id: 'a', name: 'Ada' }]);
    expect(commands).toHaveLength(2);
  });

  it('rejects with the connection error if its connection ends twice, after two commands', async () => {
    const { commands, read } = await harness({ fail: () => new MongoNetworkError('connection closed') });
    await expect(read(person('a'))).rejects.toThrow('connection closed');
    expect(commands).toHaveLength(2);
  });

  it('uses read concern majority if the database has several members', async () => {
    const sent: Document[] = [];
    const readConcern = { level: 'majority' };
    const command = async (command: Document) => {
      sent.push(command);
      return { cursor: { id: 0, firstBatch: [] } };
    };
    const read = createJointReads({ command, readConcern } as unknown as Db);
    await read(person('a'));
    await Promise.all([read(person('a')), read(cat('a'))]);
    expect(sent.map((each) => each['readConcern'])).toEqual([readConcern, readConcern]);
  });
});
