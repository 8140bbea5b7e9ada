import type { Db } from 'mongodb';
import type { MemberRole } from '../../contracts/admin/members.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';

/** The session of a signed-in browser, or of a program that a member has confirmed. */
export interface MemberSession {
  /** SHA-256 of the secret in the cookie, or of the program's token. */
  _id: string;
  memberId: string;
  partnerId: string;
  /** The time at which the member last used the passkey. */
  passkeyAt: Date;
  /** For a program: the name of its machine, its address, and the role that was confirmed. */
  device?: { name: string; address: string; role: MemberRole };
  createdAt: Date;
  expiresAt: Date;
}

const collection = 'memberSessions';
export const indexes: IndexDeclaration[] = [
  { collection, key: { memberId: 1 } },
  { collection, key: { partnerId: 1 } },
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

    listOf: (memberId: string): Promise<MemberSession[]> =>
      sessions.find({ memberId }).sort({ createdAt: -1 }).limit(200).toArray(),

    /** The programs' sessions of all members of a partner, newest first. */
    devicesOfPartner: (partnerId: string): Promise<MemberSession[]> =>
      sessions
        .find({ partnerId, device: { $exists: true } })
        .sort({ createdAt: -1 })
        .limit(200)
        .toArray(),

    async endOf({ id, memberId }: { id: string; memberId: string }): Promise<void> {
      await sessions.deleteOne({ _id: id, memberId, device: { $exists: true } });
    },

    async endDevicesOf(memberId: string): Promise<void> {
      await sessions.deleteMany({ memberId, device: { $exists: true } });
    },

    async endDevicesOfPartner(partnerId: string): Promise<void> {
      await sessions.deleteMany({ partnerId, device: { $exists: true } });
    },

    /** Stores when the member last signed in with a passkey. @returns false if the member has no such device session */
    async renewPasskey(
      { id, memberId }: { id: string; memberId: string },
      passkeyAt: Date,
    ): Promise<boolean> {
      const { matchedCount } = await sessions.updateOne(
        { _id: id, memberId, device: { $exists: true } },
        { $set: { passkeyAt } },
      );
      return matchedCount > 0;
    },

    /** Ends all sessions, for a restored database. @returns how many */
    async endAll(): Promise<number> {
      const { deletedCount } = await sessions.deleteMany({});
      return deletedCount;
    },
  };
}
