import { beforeEach, describe, expect, it } from 'vitest';
import { type Identity, identityOf } from '../../server/people/users/identity-store.ts';
import { createUserStore, type User } from '../../server/people/users/user-store.ts';
import type { AuditEntry } from '../../server/platform/database/audit/audit-entry.ts';
import type { Database } from '../../server/platform/database/connect.ts';
import { randomId } from '../../server/platform/ids.ts';
import { preparedDatabase } from '../harness/database.ts';
import { type Loss, lossyDatabase } from '../platform/database/lossy.ts';

let db: Database['db'];
let losses: ReturnType<typeof lossyDatabase>['losses'];
let processOf: () => ReturnType<typeof createUserStore>;
beforeEach(async () => {
  ({ db } = await preparedDatabase());
  const lossy = lossyDatabase(db);
  losses = lossy.losses;
  processOf = () => createUserStore(lossy.db);
});

const at = new Date();
const someone = (identity: string) => ({ identity, mode: 'test' as const, createdAt: at });
const documents = () => db.collection<Identity | User>('users');
const stored = async () => {
  const all = await documents().find().toArray();
  return {
    users: all.filter(({ _id }) => _id.startsWith('usr_')) as User[],
    identities: all.filter(({ _id }) => _id.startsWith('idn_')) as Identity[],
  };
};
/** Checks that each user has one identity, and each identity one user. */
async function expectOneEach(people: readonly string[]) {
  const { users, identities } = await stored();
  expect(users.map(({ identity }) => identity).toSorted()).toEqual([...people].toSorted());
  expect(identities).toHaveLength(users.length);
  expect(identities.toSorted((a, b) => (a._id < b._id ? -1 : 1))).toEqual(
    users.map(identityOf).toSorted((a, b) => (a._id < b._id ? -1 : 1)),
  );
}
const entry = (target: string): AuditEntry => ({
  ...{ id: randomId('event'), requestId: 'req_1', action: 'users.erase', at, target },
  ...{ operatorId: 'opr_1', operatorName: 'tester', address: '127.0.0.1' },
});

describe('an identity', () => {
  it('belongs to one user, even if many processes create it simultaneously', async () => {
    const people = Array.from({ length: 20 }, (_, n) => `person ${n}`);
    const processes = [processOf(), processOf(), processOf(), processOf()];
    const met = await Promise.all(
      processes.flatMap((process) => people.map((person) => process.findOrCreate(someone(person)))),
    );
    for (const person of people) {
      const ids = met.filter(({ user }) => user.identity === person).map(({ user }) => user._id);
      expect(ids).toHaveLength(processes.length);
      expect(new Set(ids).size).toBe(1);
    }
    await expectOneEach(people);
  });

  it.each<Loss>(['command', 'reply'])(
    'belongs to one user if the %s of its creation is lost while other processes create it too',
    async (loss) => {
      losses.push(loss);
      const people = ['ada', 'bob', 'cyd'];
      const met = await Promise.all(
        [processOf(), processOf()].flatMap((process) =>
          people.map((person) => process.findOrCreate(someone(person))),
        ),
      );
      expect(new Set(met.map(({ user }) => user._id)).size).toBe(people.length);
      await expectOneEach(people);
    },
  );

  it('gets exactly one user, with the planned id, if two processes look it up after a crash left it without that user', async () => {
    const wanted: User = { _id: randomId('user'), claims: {}, ...someone('ada') };
    await documents().insertOne(identityOf(wanted));
    const met = await Promise.all(
      [processOf(), processOf()].map((process) => process.findOrCreate(someone('ada'))),
    );
    expect(met.map(({ user }) => user._id)).toEqual([wanted._id, wanted._id]);
    await expectOneEach(['ada']);
  });

  it('has the same date of deletion (purgeAt) as its user', async () => {
    const purgeAt = new Date(at.getTime() + 1_000);
    await processOf().findOrCreate({ ...someone('ada'), purgeAt });
    const { users, identities } = await stored();
    expect([...users, ...identities].map((each) => each.purgeAt)).toEqual([purgeAt, purgeAt]);
  });
});

describe('an erased user', () => {
  it('has no identity, and the same person becomes a new user', async () => {
    const process = processOf();
    const { user } = await process.findOrCreate(someone('ada'));
    expect(await process.erase(user._id, at, entry(user._id))).toBe(true);
    expect((await stored()).identities).toEqual([]);
    expect(await process.erase(user._id, at, entry(user._id))).toBe(false);
    const again = await process.findOrCreate(someone('ada'));
    expect(again).toMatchObject({ isNew: true, user: { claims: {} } });
    expect(again.user._id).not.toBe(user._id);
    await documents().updateMany({}, { $unset: { auditAt: '' } });
    await process.remove(user._id);
    expect((await stored()).users.map(({ _id }) => _id)).toEqual([again.user._id]);
    await expectOneEach(['ada']);
  });

  it('loses an identity that a crash left over, in a later sweep or when the person returns', async () => {
    const process = processOf();
    for (const person of ['ada', 'bob']) {
      const { user } = await process.findOrCreate(someone(person));
      await process.erase(user._id, at, entry(user._id));
      await documents().insertOne(identityOf(user));
      if (person === 'bob') expect((await process.findOrCreate(someone('bob'))).user._id).not.toBe(user._id);
      await documents().updateMany({}, { $unset: { auditAt: '' } });
      await process.remove(user._id);
    }
    await expectOneEach(['bob']);
  });
});
