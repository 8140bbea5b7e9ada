import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';

/** A signed-in browser. */
export interface MemberSession {
  /** SHA-256 of the secret in the cookie. */
  _id: string;
  memberId: string;
  partnerId: string;
  /** When the passkey was last asked for. */
  passkeyAt: Date;
  createdAt: Date;
  expiresAt: Date;
}

const collection = 'memberSessions';
export const indexes: IndexDeclaration[] = [
  { collection, key: { memberId: 1 } },
  { collection, key: { expiresAt: 1 }, expireAfterSeconds: 0 },
];

export function createMemberSessionStore(db: Db) {
  const sessions = db.collection<MemberSession>(collection);
  return {
    async insert(session: MemberSession): Promise<void> {
      await sessions.insertOne(session);
    },

    find: async (id: string): Promise<MemberSession | undefined> =>
      (await sessions.findOne({ _id: id })) ?? undefined,

    async end(id: string): Promise<void> {
      await sessions.deleteOne({ _id: id });
    },

    async endAllOf(memberId: string): Promise<void> {
      await sessions.deleteMany({ memberId });
    },

    /** For a restored database. @returns how many */
    async endAll(): Promise<number> {
      const { deletedCount } = await sessions.deleteMany({});
      return deletedCount;
    },
  };
}
