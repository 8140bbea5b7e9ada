import type { Db } from 'mongodb';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { insertInOrder } from '../../platform/database/write-groups.ts';
import type { User } from './user.ts';

/**
 * Maps an identity to its only user. It is a document of its own, because an erased person becomes a new user when they
 * return. One insert makes both documents.
 */
export interface Identity {
  /** `idn_` and the keyed hash of the identity. */
  _id: string;
  userId: string;
  purgeAt?: Date;
}

/** The documents of one identity. */
interface Found {
  identity?: Identity | undefined;
  user?: User | undefined;
}

/** An identity with its user, as the database joins them. The list is empty if the user is missing. */
type IdentityWithUser = Identity & { users: User[] };
type Owner = Pick<User, '_id' | 'identity'>;

const idOf = (hash: string) => `idn_${hash}`;
export const identityOf = ({
  _id: userId,
  identity,
  purgeAt,
}: Pick<User, '_id' | 'identity' | 'purgeAt'>): Identity => ({
  _id: idOf(identity),
  userId,
  ...givenFields({ purgeAt }),
});

/** Identities are in the collection of users, so that one command can insert both. */
export const userCollection = 'users';

const collectionOf = (db: Db) => db.collection<Identity | User>(userCollection);

/** Removes the identity of a user. Idempotent. */
export async function forgetIdentity(db: Db, { _id, identity }: Owner): Promise<void> {
  await collectionOf(db).deleteOne({ _id: idOf(identity), userId: _id });
}

/** Finds and makes users by their identities. Calls in one tick share a database command. */
export function createIdentities(db: Db) {
  const documents = collectionOf(db);

  const find = createGroupCommit<string, Found>({
    async run(hashes) {
      const distinct = [...new Set(hashes)];
      const $match = { _id: { $in: distinct.map(idOf) } };
      const users = { from: userCollection, localField: 'userId', foreignField: '_id', as: 'users' };
      const rows = await documents.aggregate<IdentityWithUser>([{ $match }, { $lookup: users }]).toArray();
      const byId = new Map(rows.map((row) => [row._id, row]));
      return hashes.map((hash) => {
        const identity = byId.get(idOf(hash));
        return { identity, user: identity?.users[0] };
      });
    },
  });

  /**
   * Resolves to whether the user was inserted. The identity is inserted first, and if it exists already, no user is made.
   * The users after it in the batch are not inserted either, and their callers try again.
   */
  const insert = createGroupCommit<User, boolean>({
    async run(batch) {
      const userByIdentity = new Map(batch.map((user) => [user.identity, user]));
      const wanted = [...userByIdentity.values()].flatMap((user) => [identityOf(user), user]);
      const insertedCount = await insertInOrder(documents, wanted);
      const inserted = new Set(wanted.slice(0, insertedCount));
      return batch.map((user) => inserted.has(user));
    },
  });

  return {
    find,
    insert,

    async keepUntil({ _id, identity }: Owner, until: Date): Promise<void> {
      await documents.updateOne({ _id: idOf(identity), userId: _id }, { $set: { purgeAt: until } });
    },

    /**
     * Repairs an identity without a usable user, which an interrupted process has left. If the user was erased, the
     * identity is removed. If the user is missing, it is inserted. The caller then reads the identity again.
     */
    async repair({ identity, user }: Found, wanted: User): Promise<void> {
      if (user) await forgetIdentity(db, { _id: user._id, identity: wanted.identity });
      else if (identity) await insertInOrder(documents, [{ ...wanted, _id: identity.userId }]);
    },
  };
}
