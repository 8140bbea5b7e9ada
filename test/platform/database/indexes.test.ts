import { describe, expect, it } from 'vitest';
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
  it('makes what is declared, and nothing the second time', async () => {
    const { db } = await freshDatabase();
    expect(await reportIndexDrift(db, declarations)).toHaveLength(3);
    await ensureIndexes(db, declarations);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
    await ensureIndexes(db, declarations);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });

  it.each<[string, IndexDeclaration]>([
    ['options', { collection: 'codes', key: { hash: 1 } }],
    ['life', { collection: 'codes', key: { expiresAt: 1 }, expireAfterSeconds: 60 }],
    ['name', { collection: 'codes', key: { hash: 1 }, unique: true, name: 'by_hash' }],
    ['order of fields', { collection: 'entries', key: { at: -1, wallet: 1 }, name: 'open_entries' }],
  ])('makes an index again whose %s changed', async (_, changed) => {
    const { db } = await freshDatabase();
    await ensureIndexes(db, declarations);
    await ensureIndexes(db, [changed]);
    const drift = await reportIndexDrift(db, [changed]);
    expect(drift.filter((line) => !line.endsWith('is not declared'))).toEqual([]);
  });

  it('may run twice at once', async () => {
    const { db } = await freshDatabase();
    await Promise.all([ensureIndexes(db, declarations), ensureIndexes(db, declarations)]);
    expect(await reportIndexDrift(db, declarations)).toEqual([]);
  });
});

describe('reportIndexDrift', () => {
  it('names what is missing, what differs and what is not declared', async () => {
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
