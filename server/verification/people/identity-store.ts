import type { Db } from 'mongodb';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { insertInOrder } from '../../platform/database/write-groups.ts';
import type { User } from './user.ts';

/**
 * Says which user an identity is: its `_id` admits one. It is a document beside the users, because a user who was erased is
 * another one when they come again. The same insert makes both.
 */
export interface Identity {
  /** `idn_` and the keyed hash. */
  _id: string;
  userId: string;
  purgeAt?: Date;
}

/** The documents of one identity. */
interface Found {
  identity?: Identity | undefined;
  user?: User | undefined;
}

type Row = Identity & { users: User[] };
type Owner = Pick<User, '_id' | 'identity'>;

const idOf = (hash: string) => `idn_${hash}`;
export const identityOf = ({
  _id,
  identity,
  purgeAt,
}: Pick<User, '_id' | 'identity' | 'purgeAt'>): Identity => ({
  _id: idOf(identity),
  userId: _id,
  ...(purgeAt ? { purgeAt } : {}),
});

const collectionOf = (db: Db) => db.collection<Identity | User>('users');

/** Removes the identity of a user. Idempotent. */
export async function forgetIdentity(db: Db, { _id, identity }: Owner): Promise<void> {
  await collectionOf(db).deleteOne({ _id: idOf(identity), userId: _id });
}

/** Finds and makes users by their identities. Those of one tick share a command. */
export function createIdentities(db: Db) {
  const documents = collectionOf(db);

  const find = createGroupCommit<string, Found>({
    async run(hashes) {
      const distinct = [...new Set(hashes)];
      const $match = { _id: { $in: distinct.map(idOf) } };
      const users = { from: 'users', localField: 'userId', foreignField: '_id', as: 'users' };
      const rows = await documents.aggregate<Row>([{ $match }, { $lookup: users }]).toArray();
      const byId = new Map(rows.map((row) => [row._id, row]));
      return hashes.map((hash) => {
        const identity = byId.get(idOf(hash));
        return { identity, user: identity?.users[0] };
      });
    },
  });

  /** Resolves to whether the user was inserted. The identity comes first: where it stands already, no user is made. */
  const insert = createGroupCommit<User, boolean>({
    async run(batch) {
      const one = new Map(batch.map((user) => [user.identity, user]));
      const wanted = [...one.values()].flatMap((user) => [identityOf(user), user]);
      const inserted = await insertInOrder(documents, wanted);
      const made = new Set(wanted.slice(0, inserted));
      return batch.map((user) => made.has(user));
    },
  });

  return {
    find,
    insert,

    /** Moves the time at which the identity of a user goes. */
    async keepUntil({ _id, identity }: Owner, until: Date): Promise<void> {
      await documents.updateOne({ _id: idOf(identity), userId: _id }, { $set: { purgeAt: until } });
    },

    /**
     * The user who was found, unless erased. Otherwise removes the identity of an erased user, or inserts the missing
     * user of an identity that another process has begun.
     * @returns undefined where the identity has to be looked up again
     */
    async resolve({ identity, user }: Found, wanted: User): Promise<User | undefined> {
      if (user && !user.erasedAt) return user;
      if (user) await forgetIdentity(db, { _id: user._id, identity: wanted.identity });
      else if (identity) await insertInOrder(documents, [{ ...wanted, _id: identity.userId }]);
      return undefined;
    },
  };
}
