import { describe, expect, it } from 'vitest';
import { lookThrough, period } from '../../../server/platform/database/reads/look-through.ts';
import { freshDatabase } from '../../harness/database.ts';

interface Row {
  _id: string;
  at: Date;
  kind: string;
}

/** Ten rows, two for each second. The fourth and the last have the kind `rare`. */
async function rows() {
  const { db } = await freshDatabase();
  const collection = db.collection<Row>('rows');
  const all = Array.from({ length: 10 }, (_, n) => ({
    _id: `r${n}`,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(n / 2))),
    kind: n === 3 || n === 9 ? 'rare' : 'common',
  }));
  await collection.createIndex({ at: -1, _id: -1 });
  await collection.insertMany(all);
  const search = (changed: Partial<Parameters<typeof lookThrough>[1]>) =>
    lookThrough<Row>(collection as never, {
      indexed: {},
      hint: { at: -1, _id: -1 },
      rest: {},
      by: 'at',
      limit: 100,
      ...changed,
    });
  const ids = async (changed: Parameters<typeof search>[0]) =>
    (await search(changed)).rows.map(({ _id }) => _id);
  return { search, ids, all };
}

describe('lookThrough, the search of lists for operators,', () => {
  it('returns the newest rows first, and continues after the row that the caller names', async () => {
    const { ids, all } = await rows();
    const newest = all.map(({ _id }) => _id).reverse();
    expect(await ids({})).toEqual(newest);
    for (const [n, after] of all.toReversed().entries())
      expect(await ids({ after, limit: 3 })).toEqual(newest.slice(n + 1, n + 4));
    const since = period('at', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z');
    expect(await ids({ indexed: since })).toEqual(['r3', 'r2']);
    expect(await ids({ indexed: since, after: all[3] })).toEqual(['r2']);
  });

  it('reads a limited number of rows if the filter has no index, and returns the row after which it stopped', async () => {
    const { search, all } = await rows();
    const rare = { rest: { kind: 'rare' } };
    expect(await search({ ...rare, most: 5 })).toMatchObject({ rows: [{ _id: 'r9' }], stoppedAfter: 'r5' });
    const next = await search({ ...rare, most: 5, after: all[5] });
    expect(next).toMatchObject({ rows: [{ _id: 'r3' }] });
    expect(await search({ ...rare, most: 100 })).toMatchObject({
      rows: [{ _id: 'r9' }, { _id: 'r3' }],
      stoppedAfter: null,
    });
    // After a full page, the search continues after its last row.
    expect(await search({ ...rare, most: 5, limit: 1 })).toMatchObject({ stoppedAfter: null });
  });
});
