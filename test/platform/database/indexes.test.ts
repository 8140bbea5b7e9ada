import type { Db, Document } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../server/platform/database/connect.ts';
import { ensureIndexes, type IndexDeclaration } from '../../../server/platform/database/schema/indexes.ts';
import { freshDatabase } from '../../harness/database.ts';

const declarations: IndexDeclaration[] = [
  { collection: 'codes', key: { hash: 1 }, unique: true },
  { collection: 'codes', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  {
    collection: 'entries',
    key: { wallet: 1, at: -1 },
    partialFilterExpression: { open: true },
    name: 'open_entries',
  },
];

/** The indexes that the database reports, without those on `_id` and without defaults that only some servers report. */
async function reportedIndexes(db: Db) {
  const indexes: unknown[] = [];
  for (const { name: collection } of await db.listCollections().toArray()) {
    for (const { v, collation, key, ...index } of await db.collection(collection).indexes()) {
      if (index.name !== '_id_') indexes.push({ collection, key: Object.entries(key), ...index });
    }
  }
  return indexes;
}

async function expectDeclared(db: Db): Promise<void> {
  const reported = await reportedIndexes(db);
  expect(reported).toHaveLength(3);
  expect(reported).toEqual(
    expect.arrayContaining([
      { collection: 'codes', name: 'hash_1', key: [['hash', 1]], unique: true },
      { collection: 'codes', name: 'expiresAt_1', key: [['expiresAt', 1]], expireAfterSeconds: 0 },
      {
        collection: 'entries',
        name: 'open_entries',
        key: Object.entries({ wallet: 1, at: -1 }),
        partialFilterExpression: { open: true },
      },
    ]),
  );
}

/** Connects to the database. `commands` has the commands that change indexes, in the order in which they were sent. */
async function connectWatched(uri: string) {
  const { client, db } = await connect({
    ...{ uri, embedded: false, appName: 'test', monitorCommands: true },
  });
  onTestFinished(() => client.close());
  const commands: Document[] = [];
  client.on('commandStarted', ({ commandName, command }) => {
    if (['createIndexes', 'collMod'].includes(commandName)) commands.push(command);
  });
  return { db, commands };
}

describe('ensureIndexes, which builds the declared database indexes,', () => {
  it('creates indexes with the same key for different documents, also if one exists under another name', async () => {
    const { db } = await connectWatched((await freshDatabase()).uri);
    const forKind = (kind: string): IndexDeclaration => ({
      collection: 'entries',
      name: `of_${kind}`,
      key: { wallet: 1 },
      partialFilterExpression: { kind },
    });
    await db.collection('entries').createIndex({ wallet: 1 }, { partialFilterExpression: { kind: 'one' } });
    await ensureIndexes(db, [forKind('one'), forKind('two')]);
    expect(await reportedIndexes(db)).toMatchObject([{ name: 'wallet_1' }, { name: 'of_two' }]);
  });

  it('creates the declared indexes at its first call, and nothing at its second', async () => {
    const { db, uri } = await freshDatabase();
    expect(await reportedIndexes(db)).toEqual([]);
    await ensureIndexes(db, declarations);
    await expectDeclared(db);
    const watched = await connectWatched(uri);
    const notUnique = declarations.filter(({ unique }) => !unique);
    await ensureIndexes(watched.db, notUnique);
    expect(watched.commands).toEqual([]);
    await ensureIndexes(db, declarations);
    await expectDeclared(db);
  });

  it('requests an existing unique index again, because another process may still be building it', async () => {
    const { db, uri } = await freshDatabase();
    await ensureIndexes(db, declarations);
    const watched = await connectWatched(uri);
    await ensureIndexes(watched.db, declarations);
    expect(watched.commands).toEqual([
      expect.objectContaining({
        createIndexes: 'codes',
        indexes: [expect.objectContaining({ name: 'hash_1', unique: true })],
      }),
    ]);
  });

  // The embedded engine cannot change `expireAfterSeconds`. There the sweep deletes by the declared time.
  it('changes expireAfterSeconds of an existing index if the engine can do it', async () => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    const changed = { collection: 'codes', key: { expiresAt: 1 }, expireAfterSeconds: 60 } as const;
    await ensureIndexes(db, [changed]);
    const { expireAfterSeconds } = changed;
    const modified = db.command({ collMod: 'codes', index: { name: 'expiresAt_1', expireAfterSeconds } });
    const canModify = await modified.then(
      () => true,
      () => false,
    );
    expect(await reportedIndexes(db)).toContainEqual({
      collection: 'codes',
      name: 'expiresAt_1',
      key: [['expiresAt', 1]],
      expireAfterSeconds: canModify ? 60 : 0,
    });
  });

  it('does not replace an index that is equal to the declared one except for its name', async () => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    await ensureIndexes(db, [{ collection: 'codes', key: { hash: 1 }, unique: true, name: 'by_hash' }]);
    await expectDeclared(db);
  });

  it.each<[string, IndexDeclaration]>([
    ['options', { collection: 'codes', key: { hash: 1 } }],
    ['order of fields', { collection: 'entries', key: { at: -1, wallet: 1 }, name: 'open_entries' }],
  ])('throws if the %s of an index changed, and does not drop the index', async (_, changed) => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    await expect(ensureIndexes(db, [changed])).rejects.toThrow('not dropped under running processes');
    await expectDeclared(db);
  });

  it('creates the declared indexes if two calls run simultaneously', async () => {
    const { db } = await freshDatabase();
    await Promise.all([ensureIndexes(db, declarations), ensureIndexes(db, declarations)]);
    await expectDeclared(db);
  });
});
