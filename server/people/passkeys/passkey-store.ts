import type { Db } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import { moveExpiry, type NewExpiry } from '../../platform/database/expiry.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { insertEach } from '../../platform/database/write-groups.ts';
import type { PasskeyKey, PasskeyUse } from '../../platform/webauthn/relying-party.ts';

/** A passkey by which a user returns. `_id` is derived from the credential id, so a credential is stored only once. */
export interface Passkey extends Omit<PasskeyKey, 'publicKey'> {
  _id: string;
  userId: string;
  mode: Mode;
  /** COSE_Key, base64url. */
  publicKey: string;
  createdAt: Date;
  lastUsedAt?: Date;
  /** The time of issue of the newest challenge that this passkey has answered, in ms since 1970. */
  answeredAt: number;
  /** The browser that this passkey signed in to the user's data. `hash` is the SHA-256 of the browser's secret. */
  signIn?: { hash: string; until: Date };
  /** When the passkey is deleted together with its user; absent if the user is kept for ever. */
  purgeAt?: Date;
}

export const collection = 'passkeys';
export const indexes: IndexDeclaration[] = [
  { collection, key: { userId: 1 } },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
];
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

const mostRead = 100;

export function createPasskeyStore(db: Db) {
  const passkeys = db.collection<Passkey>(collection);
  return {
    /** @returns false if the passkey is stored already */
    async insert(passkey: Passkey): Promise<boolean> {
      const [result] = await insertEach(passkeys, [passkey]);
      if (result instanceof Error) throw result;
      return result === 'inserted';
    },

    find: async (id: string): Promise<Passkey | undefined> =>
      (await passkeys.findOne({ _id: id })) ?? undefined,

    /** The oldest first. */
    ofUser: (userId: string): Promise<Passkey[]> =>
      passkeys.find({ userId }).sort({ createdAt: 1 }).limit(mostRead).toArray(),

    /**
     * Notes that a passkey answered a challenge.
     * @param answer.issuedAt when the challenge was issued, in ms since 1970
     * @param answer.needsNewChallenge whether the challenge must be newer than all that the passkey has answered before
     * @returns false if the challenge is too old, or if the passkey was used or removed since it was read
     */
    async noteUse(
      { _id, userId, counter }: Passkey,
      answer: { issuedAt: number; use: PasskeyUse; at: Date; needsNewChallenge: boolean },
    ): Promise<boolean> {
      const { issuedAt, use, at, needsNewChallenge } = answer;
      const { matchedCount } = await passkeys.updateOne(
        { _id, userId, counter, ...(needsNewChallenge ? { answeredAt: { $lt: issuedAt } } : {}) },
        {
          $set: { counter: use.counter, synced: use.synced, lastUsedAt: at },
          $max: { answeredAt: issuedAt },
        },
      );
      return matchedCount === 1;
    },

    /** Signs a browser in, and the previous one out. @returns false if the passkey was removed since it was read */
    async signIn({ _id, userId }: Passkey, signIn: NonNullable<Passkey['signIn']>): Promise<boolean> {
      const { matchedCount } = await passkeys.updateOne({ _id, userId }, { $set: { signIn } });
      return matchedCount === 1;
    },

    async signOut(id: string, hash: string): Promise<void> {
      await passkeys.updateOne({ _id: id, 'signIn.hash': hash }, { $unset: { signIn: '' } });
    },

    /** @returns whether the passkey existed */
    remove: async (id: string): Promise<boolean> =>
      (await passkeys.deleteOne({ _id: id })).deletedCount === 1,

    moveExpiry: (userId: string, expiry: NewExpiry): Promise<void> =>
      moveExpiry(passkeys, { userId }, expiry),

    async removeOfUser(userId: string): Promise<void> {
      await passkeys.deleteMany({ userId });
    },
  };
}
export type PasskeyStore = ReturnType<typeof createPasskeyStore>;
