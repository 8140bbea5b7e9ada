import type { Db } from 'mongodb';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { KnownForms } from '../../platform/database/schema.ts';
import { insertInOrder, insertMissing } from '../../platform/database/write-groups.ts';
import type { User } from './user.ts';

/**
 * Says which user an identity is: its `_id` admits one. It is a document beside the users, because a user who was erased is
 * another one when they come again. The same insert makes both.
 */
export interface Identity {
  /** `idn_` and the keyed hash. */
  _id: string;
  /** The user's id. The name of the field is that of the unique index of schema version 2, which admits each value once. */
  identity: string;
  purgeAt?: Date;
}

/** The documents of one identity. A user without `identity` was made by a build of schema version 2. */
interface Found {
  identity?: Identity | undefined;
  user?: User | undefined;
}

type Row = Identity & Partial<User> & { users: User[] };
type Owner = Pick<User, '_id' | 'identity'>;

const idOf = (hash: string) => `idn_${hash}`;
export const identityOf = ({
  _id,
  identity,
  purgeAt,
}: Pick<User, '_id' | 'identity' | 'purgeAt'>): Identity => ({
  _id: idOf(identity),
  identity: _id,
  ...(purgeAt ? { purgeAt } : {}),
});

const collectionOf = (db: Db) => db.collection<Identity | User>('users');

/** Removes the identity of a user. Idempotent. */
export async function forgetIdentity(db: Db, { _id, identity }: Owner): Promise<void> {
  await collectionOf(db).deleteOne({ _id: idOf(identity), identity: _id });
}

/** Points an identity at its existing user, where it points at the missing user `wrong`. Idempotent. */
async function correctIdentity(db: Db, { _id, identity }: Owner, wrong: string): Promise<void> {
  await collectionOf(db).updateOne({ _id: idOf(identity), identity: wrong }, { $set: { identity: _id } });
}

/** Makes the identities of users who were made by a build of schema version 2. Idempotent. */
export async function keepIdentities(db: Db, userIds: readonly string[]): Promise<void> {
  const users = db.collection<User>('users');
  const found = await users.find({ _id: { $in: [...userIds] }, erasedAt: { $exists: false } }).toArray();
  const wanted = found.map(identityOf);
  await insertMissing(collectionOf(db), wanted);
  const kept = await users.find({ _id: { $in: wanted.map(({ _id }) => _id) } }).toArray();
  const owners = new Map(kept.map(({ _id, identity }) => [_id, identity]));
  for (const user of found) {
    const owner = owners.get(idOf(user.identity)) ?? user._id;
    // A process of the build before made the user, and one of this build was about to make another one.
    if (owner !== user._id && !(await users.findOne({ _id: owner }))) await correctIdentity(db, user, owner);
  }
}

/** Finds and makes users by their identities. Those of one tick share a command. */
export function createIdentities(db: Db, forms: KnownForms) {
  const documents = collectionOf(db);

  const find = createGroupCommit<string, Found>({
    async run(hashes) {
      const distinct = [...new Set(hashes)];
      const own = { _id: { $in: distinct.map(idOf) } };
      const $match = forms() === 'new' ? own : { $or: [own, { identity: { $in: distinct } }] };
      const users = { from: 'users', localField: 'identity', foreignField: '_id', as: 'users' };
      const rows = await documents.aggregate<Row>([{ $match }, { $lookup: users }]).toArray();
      const byId = new Map(rows.map((row) => [row._id, row]));
      const olderUsers = new Map(
        rows.map(({ users: _none, ...row }) => [row.identity, row as unknown as User]),
      );
      return hashes.map((hash) => {
        const identity = byId.get(idOf(hash));
        return { identity, user: olderUsers.get(hash) ?? identity?.users[0] };
      });
    },
  });

  /** Resolves to whether the user was inserted. The identity comes first: where it stands already, no user is made. */
  const insert = createGroupCommit<User, boolean>({
    async run(batch) {
      const one = new Map(batch.map((user) => [user.identity, user]));
      const groups = [...one.values()].map((user) => (forms() === 'old' ? [user] : [identityOf(user), user]));
      const inserted = await insertInOrder(documents, groups.flat());
      const made = new Set(groups.flat().slice(0, inserted));
      return batch.map((user) => made.has(user));
    },
  });

  return {
    find,
    insert,

    /**
     * The user who was found, unless erased. Otherwise removes the identity of an erased user, or inserts the missing
     * user of an identity that another process has begun.
     * @returns undefined where the identity has to be looked up again
     */
    async resolve({ identity, user }: Found, wanted: User): Promise<User | undefined> {
      if (user && !user.erasedAt) {
        if (identity && identity.identity !== user._id) await correctIdentity(db, user, identity.identity);
        return user;
      }
      if (user) await forgetIdentity(db, { _id: user._id, identity: wanted.identity });
      else if (identity) await insertInOrder(documents, [{ ...wanted, _id: identity.identity }]);
      return undefined;
    },
  };
}
