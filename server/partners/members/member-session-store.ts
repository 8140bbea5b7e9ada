import type { Db } from 'mongodb';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';

/** The session of a signed-in browser, or of a program that a member has confirmed. */
export interface MemberSession {
  /** SHA-256 of the secret in the cookie, or of the program's token. */
  _id: string;
  memberId: string;
  partnerId: string;
  /** The passkey that started it. */
  credentialId: string;
  /** When the member last used the passkey. For a program: in the browser that let the program in. */
  passkeyAt: Date;
  /** For a program: the name of its machine, its address, and the role that was confirmed. */
  device?: { name: string; address: string; role: MemberRole };
  createdAt: Date;
  expiresAt: Date;
}

/** The session of a program. */
export type DeviceSession = MemberSession & Required<Pick<MemberSession, 'device'>>;

type SessionOwner = { memberId: string } | { partnerId: string };

const mostListed = 200;

const collection = 'memberSessions';
export const indexes: IndexDeclaration[] = [
  { collection, key: { memberId: 1 } },
  { collection, key: { partnerId: 1 } },
  { collection, key: { expiresAt: 1 }, expireAfterSeconds: 0 },
];

export function createMemberSessionStore(db: Db) {
  const sessions = db.collection<MemberSession>(collection);
  const devices = db.collection<DeviceSession>(collection);
  const devicesOf = (owner: SessionOwner) => ({ ...owner, device: { $exists: true } });

  return {
    async insert(session: MemberSession): Promise<void> {
      await sessions.insertOne(session);
    },

    find: async (id: string): Promise<MemberSession | undefined> =>
      (await sessions.findOne({ _id: id })) ?? undefined,

    async end(id: string): Promise<void> {
      await sessions.deleteOne({ _id: id });
    },

    /** Ends the member's sessions by passkeys that are not among these. */
    async endOthersThan(credentialIds: string[], memberId: string): Promise<void> {
      await sessions.deleteMany({ memberId, credentialId: { $nin: credentialIds } });
    },

    async endAllOf(memberId: string): Promise<void> {
      await sessions.deleteMany({ memberId });
    },

    /** The sessions of programs of one member, or of all members of a partner, newest first. */
    listDevices: (owner: SessionOwner): Promise<DeviceSession[]> =>
      devices.find(devicesOf(owner)).sort({ createdAt: -1 }).limit(mostListed).toArray(),

    async endDevice(id: string, memberId: string): Promise<void> {
      await sessions.deleteOne({ _id: id, ...devicesOf({ memberId }) });
    },

    async endDevices(owner: SessionOwner): Promise<void> {
      await sessions.deleteMany(devicesOf(owner));
    },

    /** Stores when the member last used the passkey. @returns false if the member has no session of a program with this id */
    async setPasskeyTime(id: string, memberId: string, passkeyAt: Date): Promise<boolean> {
      const { matchedCount } = await sessions.updateOne(
        { _id: id, ...devicesOf({ memberId }) },
        { $set: { passkeyAt } },
      );
      return matchedCount > 0;
    },

    /** Ends all sessions, for a database that was restored from a backup. @returns how many */
    async endAll(): Promise<number> {
      const { deletedCount } = await sessions.deleteMany({});
      return deletedCount;
    },
  };
}
