import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../server/platform/database/connect.ts';
import {
  ensureIndexes,
  type IndexDeclaration,
  reportIndexDrift,
} from '../../../server/platform/database/indexes.ts';
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

describe('ensureIndexes', () => {
  it('creates the declared indexes, and nothing at the second call', async () => {
    const { db } = await freshDatabase();
    expect(await reportIndexDrift(db, declarations)).toHaveLength(3);
    await ensureIndexes(db, declarations);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
    await ensureIndexes(db, declarations);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });

  it('requests an existing unique index again, because another process may still be building it', async () => {
    const { db, uri } = await freshDatabase();
    await ensureIndexes(db, declarations);
    const { client, db: watched } = await connect({
      ...{ uri, embedded: false, appName: 'test', monitorCommands: true },
    });
    onTestFinished(() => client.close());
    const asked: unknown[] = [];
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName !== 'createIndexes') return;
      asked.push(
        ...command['indexes'].map(({ name, unique }: { name: string; unique?: boolean }) => [name, unique]),
      );
    });
    await ensureIndexes(watched, declarations);
    expect(asked).toEqual([['hash_1', true]]);
  });

  // The embedded engine cannot change the time; the sweep deletes by the declaration instead.
  it('changes how long documents are kept without a new index', async () => {
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
    expect(await reportIndexDrift(db, [changed])).toEqual([
      ...(canModify ? [] : ['codes.expiresAt_1 differs from its declaration']),
      'codes.hash_1 is not declared',
    ]);
  });

  it('keeps an equivalent index with another name', async () => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    await ensureIndexes(db, [{ collection: 'codes', key: { hash: 1 }, unique: true, name: 'by_hash' }]);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });

  it.each<[string, IndexDeclaration]>([
    ['options', { collection: 'codes', key: { hash: 1 } }],
    ['order of fields', { collection: 'entries', key: { at: -1, wallet: 1 }, name: 'open_entries' }],
  ])('never drops an index, even if its %s changed', async (_, changed) => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    await expect(ensureIndexes(db, [changed])).rejects.toThrow('not dropped under running processes');
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });

  it('can run twice simultaneously', async () => {
    const { db } = await freshDatabase();
    await Promise.all([ensureIndexes(db, declarations), ensureIndexes(db, declarations)]);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });
});

describe('reportIndexDrift', () => {
  it('names missing, different and undeclared indexes', async () => {
    const { db } = await freshDatabase();
    await db.collection('codes').createIndex({ hash: 1 });
    await db.collection('codes').createIndex({ stray: 1 });
    expect((await reportIndexDrift(db, declarations)).sort()).toEqual([
      'codes.expiresAt_1 is missing',
      'codes.hash_1 differs from its declaration',
      'codes.stray_1 is not declared',
      'entries.open_entries is missing',
    ]);
  });
});
