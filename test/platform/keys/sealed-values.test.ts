import { expect, it } from 'vitest';
import { resealSome } from '../../../server/platform/keys/sealed-values.ts';
import { createSealing, sealedUnder } from '../../../server/platform/keys/sealing.ts';
import { freshDatabase } from '../../harness/database.ts';

interface Thing {
  _id: string;
  about: { secret: string };
  revision: number;
}

const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)] as const;
const old = createSealing([oldKey]);
const sealing = createSealing([newKey, oldKey]);
const field = { collection: 'things', field: 'about.secret', counted: true };

it('resealSome encrypts values with the new master key, except a value that another process has changed meanwhile', async () => {
  const { db } = await freshDatabase();
  const things = db.collection<Thing>('things');
  for (const _id of ['kept', 'rotated'])
    await things.insertOne({ _id, about: { secret: await old.seal(`first ${_id}`) }, revision: 1 });
  const next = await old.seal('second');

  const slow = {
    ...sealing,
    async open(sealed: string) {
      const value = await sealing.open(sealed);
      // Between the read and the write, a process with the old key rotates the secret.
      if (value === 'first rotated') {
        await things.updateOne({ _id: 'rotated' }, { $set: { 'about.secret': next, revision: 2 } });
      }
      return value;
    },
  };
  expect(await resealSome(db, [field], { sealing: slow, limit: 10 })).toBe(2);
  const secretOf = async (_id: string) => (await things.findOne({ _id })) ?? expect.fail('gone');
  expect(await secretOf('rotated')).toEqual({ _id: 'rotated', about: { secret: next }, revision: 2 });
  const kept = await secretOf('kept');
  expect(sealedUnder(kept.about.secret)).toBe(sealing.masterKeys[0]);
  expect([await sealing.open(kept.about.secret), kept.revision]).toEqual(['first kept', 2]);

  // The next round reseals the new value.
  expect(await resealSome(db, [field], { sealing, limit: 10 })).toBe(1);
  const rotated = await secretOf('rotated');
  expect([await sealing.open(rotated.about.secret), rotated.revision]).toEqual(['second', 3]);
  expect(await resealSome(db, [field], { sealing, limit: 10 })).toBe(0);
});
