import { describe, expect, it } from 'vitest';
import { connect, isUnavailable } from '../../../server/platform/database/connect.ts';
import { readServerTime } from '../../../server/platform/database/server-clock.ts';
import { freshDatabase } from '../../harness/database.ts';
import { startDeployment } from './deployment.ts';

describe('readServerTime', () => {
  it('returns a time after 2020 from the database, and a second call does not return an earlier one', async () => {
    const { db } = await freshDatabase();
    const first = await readServerTime(db);
    expect(await readServerTime(db)).toBeGreaterThanOrEqual(first);
    expect(first).toBeGreaterThan(Date.UTC(2020));
  });

  it('writes the time to a document if a router would answer queries with its own clock', async () => {
    const { db } = await freshDatabase();
    const first = await readServerTime(db, true);
    const [document] = await db.collection<{ _id: string; at: Date }>('meta').find().toArray();
    expect(document).toEqual({ _id: 'clock', at: new Date(first) });
    expect(await readServerTime(db, true)).toBeGreaterThanOrEqual(first);
    expect(first).toBeGreaterThan(Date.UTC(2020));
  });

  it('uses the hello command if the database does not support $documents', async () => {
    const localTime = new Date('2030-01-01T00:00:00.123Z');
    const uri = await startDeployment({ localTime });
    const { db, client } = await connect({ uri, embedded: false, appName: 'test' });
    expect(await readServerTime(db)).toBe(localTime.getTime());
    await client.close();
    await expect(readServerTime(db)).rejects.toSatisfy(isUnavailable);
  });
});
