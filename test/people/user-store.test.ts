import type { Db } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUserStore, type UserStore } from '../../server/people/users/user-store.ts';
import { auditEntry } from '../../server/platform/database/audit/audit-entry.ts';
import { preparedDatabase } from '../harness/database.ts';
import { type Loss, lossyDatabase } from '../platform/database/lossy.ts';

let db: Db;
let users: UserStore;
let losses: ReturnType<typeof lossyDatabase>['losses'];
beforeEach(async () => {
  ({ db } = await preparedDatabase());
  const lossy = lossyDatabase(db);
  losses = lossy.losses;
  users = createUserStore(lossy.db);
});

const at = new Date();
const authenticate = (identity: string) => users.findOrCreate({ identity, mode: 'test', createdAt: at });

describe('a person who authenticates for the first time', () => {
  it('becomes one user if sessions authenticate simultaneously, and counts as new in only one of them', async () => {
    const met = await Promise.all(['ada', 'ada', 'bob', 'ada'].map(authenticate));
    expect(new Set(met.map(({ user }) => user._id)).size).toBe(2);
    const news = met.filter(({ isNew }) => isNew).map(({ user }) => user.identity);
    expect(news.sort()).toEqual(['ada', 'bob']);
    expect((await authenticate('ada')).isNew).toBe(false);
  });

  it.each<Loss>(['command', 'reply'])(
    'becomes one new user if the %s of the first write is lost',
    async (loss) => {
      losses.push(loss);
      const { user, isNew } = await authenticate('ada');
      expect(isNew).toBe(true);
      expect((await authenticate('ada')).user._id).toBe(user._id);
    },
  );
});

describe('claims of a user who was erased during a session', () => {
  const found = { claims: { country: 'DE' }, duplicate: true };
  const ada = { operatorId: 'opr_1', operatorName: 'Ada', action: 'users.erase', requestId: 'req_1' };

  it.each(['keepFirstClaims', 'keepClaims'] as const)('are not stored by the method %s', async (keep) => {
    const { user } = await authenticate('ada');
    const { user: other } = await authenticate('bob');
    const entry = auditEntry({ ...ada, address: '::1' }, { id: user._id, at: at.getTime() }, {});
    expect(await users.erase(user._id, at, entry)).toBe(true);
    const record = () => db.collection<{ _id: string }>('users').findOne({ _id: user._id });
    const emptied = await record();
    expect(emptied).toMatchObject({ claims: {}, erasedAt: at });
    expect(await users[keep](user._id, found, at)).not.toBe(true);
    expect(await record()).toEqual(emptied);
    await users[keep](other._id, found, at);
    expect((await users.find(other._id))?.claims).toHaveProperty('country');
  });
});

describe('the first claims of a user', () => {
  const found = { claims: { country: 'DE' }, duplicate: false };

  it('are stored without marking snapshots of sessions as out of date, because there are none yet', async () => {
    const { user } = await authenticate('ada');
    expect(await users.keepFirstClaims(user._id, found, at)).toBe(true);
    const kept = await users.find(user._id);
    expect(kept?.claims).toEqual({ country: { value: 'DE', evaluatedAt: at } });
    expect(kept).not.toHaveProperty('invalidateAt');
  });

  it('are stored from one of two simultaneous sessions only, and later claims replace them', async () => {
    const { user } = await authenticate('ada');
    const other = { claims: { country: 'FR' }, duplicate: false };
    const kept = await Promise.all([
      users.keepFirstClaims(user._id, found, at),
      users.keepFirstClaims(user._id, other, at),
    ]);
    expect(kept.filter(Boolean)).toHaveLength(1);
    await users.keepClaims(user._id, other, at);
    expect(await users.find(user._id)).toMatchObject({
      invalidateAt: at,
      claims: { country: { value: 'FR' } },
    });
  });
});
