import type { Db, Filter, UpdateFilter } from 'mongodb';
import type { AuditEntry } from '../../platform/database/audit-entry.ts';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/sharding.ts';
import { unavailable } from '../../platform/errors.ts';
import { randomId } from '../../platform/ids.ts';
import type { Verified } from '../sources/source.ts';
import { createIdentities, forgetIdentity } from './identity-store.ts';
import { type Invalidations, invalidationIndex, invalidationsOf } from './invalidation-store.ts';
import type { User } from './user.ts';

export type { User };

const collection = 'users';
/** How often a change is tried when concurrent changes make it fail. */
const maxConflictTries = 5;
export const indexes: IndexDeclaration[] = [
  { collection, key: { erasedAt: 1 }, sparse: true },
  { collection, key: { keptSince: 1 }, sparse: true },
  { collection, key: { auditAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
  invalidationIndex(collection),
];
/** Identities are documents of their own, so no unique index besides `_id` is needed. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export type NewUser = Pick<User, 'identity' | 'mode' | 'createdAt' | 'purgeAt'> &
  Partial<Pick<User, 'claims' | 'keptSince'>>;

export interface UserStore {
  /** Finds the user of an identity, or makes one. */
  findOrCreate(user: NewUser): Promise<{ user: User; isNew: boolean }>;
  find(id: string): Promise<User | undefined>;
  /** The users with these ids, without erased ones. */
  findAll(ids: readonly string[]): Promise<User[]>;
  invalidations: Invalidations<User>;
  /**
   * Stores the first claims of a user. No session can have a snapshot yet, so none has to be invalidated.
   * @returns false if the user has claims, or was erased
   */
  keepFirstClaims(id: string, found: Found, evaluatedAt: Date): Promise<boolean>;
  /** Stores claims. The caller must then invalidate the claims snapshots in the user's sessions. */
  keepClaims(id: string, found: Found, evaluatedAt: Date): Promise<void>;
  /** Users with a claim that was evaluated at `before` or earlier. */
  findWithOldClaims(before: Date, limit: number): Promise<User[]>;
  /** Removes claims that were evaluated at `before` or earlier, unless they were evaluated again since they were read. */
  forgetClaims(user: User, before: Date): Promise<void>;
  /**
   * Empties the record, so that the same person is a new user from now on. The caller must then invalidate the claims
   * snapshots in the user's sessions.
   * @returns whether the user existed
   */
  erase(id: string, at: Date, entry: AuditEntry): Promise<boolean>;
  /**
   * Changes when a user is deleted. Does nothing for users who are kept for ever.
   * @returns whether it changed a user
   */
  keepUntil(id: string, until: Date): Promise<boolean>;
  /** Ids of users that were erased before this time. */
  erasedBefore(at: Date, limit: number): Promise<string[]>;
  /** Removes the record, unless it has an audit entry that is not copied to the audit log yet. */
  remove(id: string): Promise<void>;
}

type Found = Pick<Verified, 'claims' | 'duplicate'>;

const notErased = { erasedAt: { $exists: false } };

/** Claims as a user's record stores them. */
export const keptClaims = (claims: Verified['claims'], evaluatedAt: Date): User['claims'] =>
  Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, { value, evaluatedAt }]));

export function createUserStore(db: Db): UserStore {
  const users = db.collection<User>(collection);
  const identities = createIdentities(db);

  return {
    async findOrCreate({ claims = {}, ...fields }) {
      const user: User = { _id: randomId('user'), claims, ...fields };
      for (let tries = 0; tries < maxConflictTries; tries += 1) {
        const found = await identities.find(user.identity);
        if (found.user && !found.user.erasedAt) {
          // The found user has the new id if an earlier try has inserted it, and the reply was lost.
          return { user: found.user, isNew: found.user._id === user._id };
        }
        if (found.identity) await identities.repair(found, user);
        else if (await identities.insert(user)) return { user, isNew: true };
        // The identity was repaired, or another session of the same person has inserted it. Read it again.
      }
      throw unavailable(new Error('a user keeps being made and erased'));
    },

    find: async (id) => (await users.findOne({ _id: id, ...notErased })) ?? undefined,

    findAll: (ids) => users.find({ _id: { $in: [...ids] }, ...notErased }).toArray(),

    invalidations: invalidationsOf(users),

    async keepFirstClaims(id, { claims, duplicate }, evaluatedAt) {
      const kept = { claims: keptClaims(claims, evaluatedAt), keptSince: evaluatedAt, duplicate };
      const { matchedCount } = await users.updateOne({ _id: id, claims: {}, ...notErased }, { $set: kept });
      return matchedCount === 1;
    },

    async keepClaims(id, { claims, duplicate }, evaluatedAt) {
      const fields = Object.entries(keptClaims(claims, evaluatedAt)).map(([name, claim]) => [
        `claims.${name}`,
        claim,
      ]);
      // `invalidateAt` marks the claims snapshots in the user's sessions as out of date.
      const changed = { ...Object.fromEntries(fields), duplicate, invalidateAt: evaluatedAt };
      await users.updateOne({ _id: id, ...notErased }, { $set: changed, $min: { keptSince: evaluatedAt } });
    },

    findWithOldClaims: (before, limit) =>
      users
        .find({ keptSince: { $lte: before } })
        .limit(limit)
        .toArray(),

    async forgetClaims({ _id, keptSince, claims }, before) {
      const all = Object.entries(claims).map(([name, { evaluatedAt }]) => ({
        path: `claims.${name}`,
        evaluatedAt,
      }));
      const old = all.filter(({ evaluatedAt }) => evaluatedAt <= before);
      const kept = all.filter(({ evaluatedAt }) => evaluatedAt > before);
      // Without a match, a claim was evaluated again meanwhile, and nothing is removed.
      const asRead = Object.fromEntries(
        old.map(({ path, evaluatedAt }) => [`${path}.evaluatedAt`, evaluatedAt]),
      );
      const removed = Object.fromEntries(old.map(({ path }) => [path, '' as const]));
      const oldestKept = Math.min(...kept.map(({ evaluatedAt }) => evaluatedAt.getTime()));
      const change: UpdateFilter<User> =
        kept.length > 0
          ? { $unset: removed, $set: { keptSince: new Date(oldestKept) } }
          : { $unset: { ...removed, keptSince: '' } };
      await users.updateOne({ _id, keptSince, ...asRead } as Filter<User>, change);
    },

    async erase(id, at, entry) {
      const notYetErased = { _id: id, ...notErased };
      const user = await users.findOne(notYetErased, { projection: { identity: 1 } });
      if (!user) return false;
      // The sweep deletes the record after its second look. Until then, no deletion by time may remove it.
      const emptied = {
        claims: {},
        duplicate: false,
        erasedAt: at,
        invalidateAt: at,
        auditAt: entry.at,
      };
      const { matchedCount } = await users.updateOne(notYetErased, {
        $set: emptied,
        $unset: { purgeAt: '' },
        $push: { audit: entry },
      });
      await forgetIdentity(db, user);
      return matchedCount === 1;
    },

    async keepUntil(id, until) {
      const kept = { $set: { purgeAt: until } };
      const user = await users.findOneAndUpdate({ _id: id, purgeAt: { $exists: true }, ...notErased }, kept);
      if (user) await identities.keepUntil(user, until);
      return user !== null;
    },

    async erasedBefore(at, limit) {
      const found = await users
        .find({ erasedAt: { $lte: at } }, { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    // A record with an audit entry is still needed: the entry is not copied to the audit log yet.
    async remove(id) {
      const user = await users.findOne({ _id: id, auditAt: { $exists: false } });
      if (!user) return;
      await forgetIdentity(db, user);
      await users.deleteOne({ _id: id, auditAt: { $exists: false } });
    },
  };
}
