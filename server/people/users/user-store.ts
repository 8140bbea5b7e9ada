import type { Db, Filter, UpdateFilter } from 'mongodb';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { moveExpiry, type NewExpiry } from '../../platform/database/expiry.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import { readPage } from '../../platform/database/reads/pages.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import { randomId } from '../../platform/ids.ts';
import type { Verified } from '../../sessions/sources/source.ts';
import { invalidationIndex, invalidationsOf } from '../enrollments/invalidation-store.ts';
import {
  userCollection as collection,
  createIdentities,
  forgetIdentity,
  identityOf,
} from './identity-store.ts';
import { isHeld, type User } from './user.ts';

export type { User };

/** How often a change is tried when concurrent changes make it fail. */
const maxConflictTries = 5;
export const indexes: IndexDeclaration[] = [
  { collection, key: { erasedAt: 1 }, sparse: true },
  { collection, key: { keptSince: 1 }, sparse: true },
  { collection, key: { 'hold.until': 1 }, sparse: true },
  { collection, key: { auditAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
  invalidationIndex(collection),
];
/** Identities are documents of their own, so no unique index besides `_id` is needed. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export type NewUser = Pick<User, 'identity' | 'mode' | 'createdAt' | 'purgeAt'> &
  Partial<Pick<User, 'claims' | 'keptSince'>>;

type Found = Pick<Verified, 'claims' | 'duplicate'>;

/** The condition of every deletion of a user's data: no legal hold keeps them. `isHeld` says the same of a user. */
const notHeld = (now: Date) => ({ 'hold.until': { $not: { $gt: now } } });

const notErased = { erasedAt: { $exists: false } };
const claimsKeptSince = (before: Date, now: Date) => ({ keptSince: { $lte: before }, ...notHeld(now) });
const heldAndMovedBy = (before: Date, now: Date) => ({
  'hold.until': { $gt: now },
  'hold.movedAt': { $not: { $gt: before } },
});
const erasedBy = (at: Date) => ({ erasedAt: { $lte: at } });

/** Find whether `findWithOldClaims`, `heldUsers` and `erasedBefore` would find a user. */
export const userReads = {
  withOldClaims: (before: Date, now: Date): Read => anyOf(collection, claimsKeptSince(before, now)),
  held: (before: Date, now: Date): Read => anyOf(collection, heldAndMovedBy(before, now)),
  erased: (at: Date): Read => anyOf(collection, erasedBy(at)),
};

/** Claims as a user's record stores them. */
export const keptClaims = (claims: Verified['claims'], evaluatedAt: Date): User['claims'] =>
  Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, { value, evaluatedAt }]));

export function createUserStore(db: Db) {
  const users = db.collection<User>(collection);
  const identities = createIdentities(db);

  return {
    async findOrCreate({ claims = {}, ...fields }: NewUser): Promise<{ user: User; isNew: boolean }> {
      const user: User = { _id: randomId('user'), claims, ...fields };
      for (let tries = 0; tries < maxConflictTries; tries += 1) {
        const found = await identities.find(user.identity);
        if (found.user && !found.user.erasedAt) {
          // If an earlier try has inserted the user, and the reply was lost, the found user has the id made above.
          return { user: found.user, isNew: found.user._id === user._id };
        }
        if (found.identity) await identities.repair(found, user);
        else if (await identities.insert(user)) return { user, isNew: true };
        // The identity was repaired, or another session of the same person has inserted it. Read it again.
      }
      throw unavailable(new Error('a user keeps being made and erased'));
    },

    find: async (id: string): Promise<User | undefined> =>
      (await users.findOne({ _id: id, ...notErased })) ?? undefined,

    /** The users with these ids, without erased ones. */
    findAll: (ids: readonly string[]): Promise<User[]> =>
      users.find({ _id: { $in: [...ids] }, ...notErased }).toArray(),

    invalidations: invalidationsOf(users),

    /**
     * Stores the first claims of a user. No session can have a snapshot yet, so none has to be invalidated.
     * @returns false if the user has claims, or was erased
     */
    async keepFirstClaims(id: string, { claims, duplicate }: Found, evaluatedAt: Date): Promise<boolean> {
      const kept = { claims: keptClaims(claims, evaluatedAt), keptSince: evaluatedAt, duplicate };
      const { matchedCount } = await users.updateOne({ _id: id, claims: {}, ...notErased }, { $set: kept });
      return matchedCount === 1;
    },

    /** Stores claims. The caller must then invalidate the claims snapshots in the user's sessions. */
    async keepClaims(id: string, { claims, duplicate }: Found, evaluatedAt: Date): Promise<void> {
      const fields = Object.entries(keptClaims(claims, evaluatedAt)).map(([name, claim]) => [
        `claims.${name}`,
        claim,
      ]);
      // `invalidateAt` marks the claims snapshots in the user's sessions as out of date.
      const changed = { ...Object.fromEntries(fields), duplicate, invalidateAt: evaluatedAt };
      await users.updateOne({ _id: id, ...notErased }, { $set: changed, $min: { keptSince: evaluatedAt } });
    },

    /** Users with a claim that was evaluated at `before` or earlier, without held ones. */
    findWithOldClaims: (before: Date, { now, limit }: { now: Date; limit: number }): Promise<User[]> =>
      users.find(claimsKeptSince(before, now)).limit(limit).toArray(),

    /** Removes claims that were evaluated at `before` or earlier, unless they were evaluated again since they were read. */
    async forgetClaims({ _id, keptSince, claims }: User, before: Date): Promise<void> {
      const oldestFirst = Object.entries(claims).toSorted(
        ([, one], [, other]) => one.evaluatedAt.getTime() - other.evaluatedAt.getTime(),
      );
      const old = oldestFirst.filter(([, { evaluatedAt }]) => evaluatedAt <= before);
      const [, oldestLeft] = oldestFirst[old.length] ?? [];
      // A claim that was evaluated again since does not match. Then nothing is removed.
      const asRead = Object.fromEntries(
        old.map(([name, { evaluatedAt }]) => [`claims.${name}.evaluatedAt`, evaluatedAt]),
      );
      const removed = Object.fromEntries(old.map(([name]) => [`claims.${name}`, '' as const]));
      const change: UpdateFilter<User> = oldestLeft
        ? { $unset: removed, $set: { keptSince: oldestLeft.evaluatedAt } }
        : { $unset: { ...removed, keptSince: '' } };
      await users.updateOne({ _id, keptSince, ...asRead } as Filter<User>, change);
    },

    /**
     * Empties the record, so that the same person is a new user from now on. The caller must then invalidate the claims
     * snapshots in the user's sessions.
     * @returns whether the user existed
     * @throws ApiError `conflict` if a legal hold keeps the user; DryRunEnd in a dry run
     */
    async erase(id: string, at: Date, entry: AuditEntry): Promise<boolean> {
      const notYetErased = { _id: id, ...notErased };
      const user = await users.findOne(notYetErased, { projection: { identity: 1, hold: 1 } });
      if (!user) return false;
      if (isHeld(user, at)) {
        const description = `A legal hold keeps ${id} until ${user.hold?.until.toISOString()}`;
        throw new ApiError('conflict', { description });
      }
      endDryRun(entry);
      const emptied = { claims: {}, duplicate: false, erasedAt: at, invalidateAt: at, auditAt: entry.at };
      const { matchedCount } = await users.updateOne(
        { ...notYetErased, ...notHeld(at) },
        {
          $set: emptied,
          // The sweep needs the record to erase the data a second time, and deletes it then. So it must not expire before.
          $unset: { purgeAt: '' },
          $push: { audit: entry },
        },
      );
      await forgetIdentity(db, user);
      return matchedCount === 1;
    },

    /** Sets a legal hold, or removes it. */
    async setHold(id: string, hold: User['hold'], entry: AuditEntry): Promise<void> {
      await users.updateOne(
        { _id: id, ...notErased },
        {
          $set: { auditAt: entry.at, ...(hold ? { hold } : {}) },
          ...(hold ? {} : { $unset: { hold: '' } }),
          $push: { audit: entry },
        },
      );
    },

    /** Held users whose records were last moved at `before` or earlier. */
    heldUsers: (now: Date, before: Date, limit: number): Promise<User[]> =>
      users.find(heldAndMovedBy(before, now)).limit(limit).toArray(),

    /** Held users, the one whose hold ends first at the top. @param after the last user of the page before */
    listHeld: (now: Date, { limit, after }: { limit: number; after?: User | undefined }): Promise<User[]> =>
      readPage(
        users,
        { 'hold.until': { $gt: now }, ...notErased },
        {
          ...{ by: 'hold.until', oldestFirst: true, limit },
          after: after && { _id: after._id, 'hold.until': after.hold?.until },
        },
      ),

    async noteHeld(id: string, movedAt: Date): Promise<void> {
      await users.updateOne({ _id: id, hold: { $exists: true } }, { $set: { 'hold.movedAt': movedAt } });
    },

    /** Moves when a user and the identity are deleted. */
    async moveExpiry(id: string, expiry: NewExpiry): Promise<void> {
      const user = await users.findOne({ _id: id, ...notErased }, { projection: { identity: 1 } });
      if (user) await moveExpiry(users, { _id: { $in: [id, identityOf(user)._id] } }, expiry);
    },

    /**
     * Changes when a user is deleted. Does nothing for users who are kept for ever.
     * @returns whether it changed a user
     */
    async keepUntil(id: string, until: Date): Promise<boolean> {
      const kept = { $set: { purgeAt: until } };
      const user = await users.findOneAndUpdate({ _id: id, purgeAt: { $exists: true }, ...notErased }, kept);
      if (user) await identities.keepUntil(user, until);
      return user !== null;
    },

    /** Ids of users that were erased before this time. */
    async erasedBefore(at: Date, limit: number): Promise<string[]> {
      const found = await users
        .find(erasedBy(at), { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /** Removes the record, unless it has an audit entry that is not copied to the audit log yet. */
    async remove(id: string): Promise<void> {
      const user = await users.findOne({ _id: id, auditAt: { $exists: false } });
      if (!user) return;
      await forgetIdentity(db, user);
      await users.deleteOne({ _id: id, auditAt: { $exists: false } });
    },
  };
}
export type UserStore = ReturnType<typeof createUserStore>;
