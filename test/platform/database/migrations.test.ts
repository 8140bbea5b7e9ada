import { expect, it } from 'vitest';
import { createMigrator, type Migration } from '../../../server/platform/database/schema/migrations.ts';
import { freshDatabase } from '../../harness/database.ts';

const migration: Migration = {
  name: 'names are in lower case',
  to: 2,
  collection: 'people',
  pending: { lower: { $exists: false } },
  // `times` shows whether a document was changed twice.
  change: [{ $set: { lower: { $toLower: '$name' }, times: { $add: [{ $ifNull: ['$times', 0] }, 1] } } }],
};
const count = 1_200;

async function people() {
  const { db } = await freshDatabase();
  const documents = db.collection<{ _id: string; name: string; lower?: string; times?: number }>('people');
  const all = Array.from({ length: count }, (_, n) => ({ _id: String(n).padStart(5, '0'), name: `P${n}` }));
  await documents.insertMany(all);
  const clock = { now: () => Date.now() };
  const migrator = (settings = {}) => createMigrator({ db, clock, pageLength: 100, ...settings });
  return { db, documents, migrator };
}

it('a migration continues where the process before it ended, and changes each document once', async () => {
  const { documents, migrator } = await people();
  for (let page = 1; page <= 5; page += 1) {
    await migrator({ budget: 0 }).work([migration]);
    expect(await documents.countDocuments({ times: 1 })).toBe(100 * page);
    expect(await migrator().states([migration])).toMatchObject([{ changed: 100 * page, done: false }]);
  }
  await migrator().work([migration]);
  expect(await migrator().countPending([migration])).toBe(0);
  expect(await documents.countDocuments({ times: 1 })).toBe(count);
  expect(await migrator().states([migration])).toMatchObject([{ changed: count, done: true }]);
});

it('a migration runs in one process at a time, and another continues after the lease of a crashed process has expired', async () => {
  const { documents, migrator } = await people();
  await Promise.all([migrator(), migrator(), migrator()].map((each) => each.work([migration])));
  await migrator().work([migration]);
  expect(await documents.countDocuments({ times: 1 })).toBe(count);

  await documents.updateMany({}, { $unset: { lower: '', times: '' } });
  await migrator().restart([migration]);
  // A process crashes after its first page, and its lease remains.
  const dead = migrator({ clock: { now: () => Date.now() + 1_000_000 }, budget: 0 });
  await dead.work([migration]);
  expect(await documents.countDocuments({ times: 1 })).toBe(100);
  await migrator().work([migration]);
  expect(await documents.countDocuments({ times: 1 })).toBe(100);
  await migrator({ clock: { now: () => Date.now() + 2_000_000 } }).work([migration]);
  expect(await documents.countDocuments({ times: 1 })).toBe(count);
});

it('a document that an older build writes during a migration is migrated by the next pass', async () => {
  const { documents, migrator } = await people();
  await migrator().work([migration]);
  await documents.insertOne({ _id: '00000-late', name: 'LATE' });
  await migrator().work([migration]);
  expect(await migrator().countPending([migration])).toBe(1);
  await migrator().restart([migration]);
  await migrator().work([migration]);
  expect(await migrator().countPending([migration])).toBe(0);
  expect(await documents.findOne({ _id: '00000-late' })).toMatchObject({ lower: 'late', times: 1 });
});
