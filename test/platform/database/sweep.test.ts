import { describe, expect, it } from 'vitest';
import type { IndexDeclaration } from '../../../server/platform/database/schema/indexes.ts';
import { sweepExpired } from '../../../server/platform/database/sweep.ts';
import { freshDatabase } from '../../harness/database.ts';

const now = new Date('2030-01-01T00:00:00Z');
const secondsAgo = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);

const declarations: IndexDeclaration[] = [
  { collection: 'sessions', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  {
    collection: 'events',
    key: { at: 1 },
    expireAfterSeconds: 60,
    partialFilterExpression: { settled: true },
  },
  { collection: 'events', key: { partner: 1 } },
];

describe('sweepExpired', () => {
  it('deletes only expired documents', async () => {
    const { db } = await freshDatabase();
    await db
      .collection('sessions')
      .insertMany([
        { name: 'past', expiresAt: secondsAgo(1) },
        { name: 'now', expiresAt: now },
        { name: 'future', expiresAt: secondsAgo(-1) },
        { name: 'no date', expiresAt: 0 },
        { name: 'none' },
      ]);
    await db.collection('events').insertMany([
      { name: 'old', at: secondsAgo(61), settled: true },
      { name: 'old but open', at: secondsAgo(61), settled: false },
      { name: 'young', at: secondsAgo(59), settled: true },
    ]);
    expect(await sweepExpired(db, declarations, now)).toBe(2);
    expect(await db.collection('sessions').distinct('name')).toEqual(['future', 'no date', 'none', 'now']);
    expect(await db.collection('events').distinct('name')).toEqual(['old but open', 'young']);
  });

  it('deletes at most 1,000 documents of an index in one call', async () => {
    const { db } = await freshDatabase();
    const expired = Array.from({ length: 1_200 }, (_, id) => ({ id, expiresAt: secondsAgo(5) }));
    await db.collection('sessions').insertMany(expired);
    expect(await sweepExpired(db, declarations, now)).toBe(1_000);
    expect(await sweepExpired(db, declarations, now)).toBe(200);
    expect(await sweepExpired(db, declarations, now)).toBe(0);
  });
});
