import { expect, it } from 'vitest';
import type { Member } from '../../server/partners/members/member-store.ts';
import { createOwners, isActiveOwner } from '../../server/partners/members/owners.ts';
import { createMembersStores } from '../../server/partners/members/store.ts';
import { preparedDatabase } from '../harness/database.ts';
import { manualClock } from '../harness/server.ts';

const partnerId = 'ptr_0000000000000000000001';

/** Owners of a partner, of which some are still invited. */
async function ownersOf(statuses: readonly Member['status'][]) {
  const { db } = await preparedDatabase();
  const clock = manualClock();
  const { members, ownerEnds } = createMembersStores(db);
  const now = new Date(clock.now());
  const records = statuses.map(
    (status, n): Member => ({
      ...{
        _id: `mem_${n}`,
        partnerId,
        email: `${n}@shop.example`,
        role: 'owner',
        status,
        invitedBy: 'opr_1',
      },
      ...{ revision: 1, createdAt: now, updatedAt: now, audit: [] },
    }),
  );
  await db.collection<Member>('members').insertMany(records);
  const owners = createOwners({ members, ownerEnds }, clock);
  const permitEnd = async (n: number) => {
    const member = await members.find(`mem_${n}`);
    return member
      ? owners.permitEnd(member).then(
          () => 'permitted',
          ({ code }) => code as string,
        )
      : 'absent';
  };
  /** Ends an owner, as the call does that has the permission. */
  const end = (n: number) =>
    db
      .collection<Member>('members')
      .updateOne({ _id: `mem_${n}` }, { $set: { status: 'removed' }, $inc: { revision: 1 } });
  const revision = async (n: number) => (await members.find(`mem_${n}`))?.revision;
  return { clock, permitEnd, end, revision };
}

it('the only active owner may not end, although others are invited', async () => {
  const { permitEnd } = await ownersOf(['active', 'invited']);
  expect(await permitEnd(0)).toBe('refused');
});

it('one of two owners may end, and the other one is then the only one', async () => {
  const { permitEnd, end } = await ownersOf(['active', 'active']);
  expect(await permitEnd(0)).toBe('permitted');
  await end(0);
  expect(await permitEnd(1)).toBe('refused');
});

it('two owners who end at the same time: one is permitted, the other gets a conflict', async () => {
  const { permitEnd } = await ownersOf(['active', 'active', 'active']);
  const answers = await Promise.all([permitEnd(0), permitEnd(1)]);
  expect(answers.toSorted()).toEqual(['conflict', 'permitted']);
});

it('a permission that was not used ends after 10 s, and its call can then change nothing', async () => {
  const { clock, permitEnd, revision } = await ownersOf(['active', 'active', 'active']);
  expect(await permitEnd(0)).toBe('permitted');
  clock.advance(9_999);
  expect(await permitEnd(1)).toBe('conflict');
  clock.advance(1);
  expect(await permitEnd(1)).toBe('permitted');
  // A change names the revision that it has read.
  expect(await revision(0)).toBe(2);
});

it('an active owner is one who has the role and can sign in', () => {
  const cases = [
    [{ role: 'owner', status: 'active' }, true],
    [{ role: 'owner', status: 'invited' }, false],
    [{ role: 'viewer', status: 'active' }, false],
    [{}, false],
  ] as const;
  for (const [member, expected] of cases) expect(isActiveOwner(member)).toBe(expected);
});
