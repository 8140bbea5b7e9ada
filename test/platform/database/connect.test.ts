import { describe, expect, it } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';

describe('connect', () => {
  it('writes and reads in the database that the address names', async () => {
    const { db, name, features } = await freshDatabase();
    expect(db.databaseName).toBe(name);
    await db.collection<{ _id: string }>('things').insertOne({ _id: 'a' });
    expect(await db.collection('things').countDocuments()).toBe(1);
    expect(features).toEqual({ retryableWrites: false, expiresDocuments: false });
  });
});
