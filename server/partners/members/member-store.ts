import type { Db } from 'mongodb';
import type { MemberRole, MemberStatus } from '../../../contracts/admin/members.ts';
import { type AuditedRecord, createRecordStore } from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { PasskeyUse } from '../../platform/webauthn/relying-party.ts';
import { type MemberPasskey, passkeyField, passkeysOf } from './member-passkeys.ts';

/** A person who works for a partner. `_id` is derived from the partner and the e-mail address, so a person has one. */
export interface Member extends AuditedRecord {
  partnerId: string;
  /** Absent once the member is removed. */
  email?: string;
  role: MemberRole;
  status: MemberStatus;
  /** The operator or the member who sent the last invitation. */
  invitedBy: string;
  /**
   * The link with which the member makes a passkey. It works once, and is then removed. An invitation by support is held until
   * `heldUntil`, and gives an active member the role only when it is used.
   */
  invitation?: { hash: string; expiresAt: Date; heldUntil?: Date; role?: MemberRole };
  /** A list if there are several: `passkeysOf` reads both. One index covers both, so no two members have the same passkey. */
  passkey?: MemberPasskey | MemberPasskey[];
  /** Whether the member wants e-mails about warnings. */
  warnings?: true;
  lastSignInAt?: Date;
  removedAt?: Date;
  /** When the record of a removed member is deleted. */
  purgeAt?: Date;
}

/** The most members of one partner that get an e-mail. */
const mostEmails = 1_000;

export const collection = 'members';
export const indexes: IndexDeclaration[] = [
  // For audit entries that wait to be copied to the audit log.
  { collection, key: { auditAt: 1 }, sparse: true },
  // For lists of the members of a partner. There is no list of all members.
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  // For searches by e-mail address.
  { collection, key: { email: 1 }, sparse: true },
  { collection, key: { 'invitation.hash': 1 }, sparse: true },
  { collection, key: { 'passkey.credentialId': 1 }, unique: true, sparse: true },
  { collection, key: { purgeAt: 1 }, sparse: true, expireAfterSeconds: 0 },
];

export function createMemberStore(db: Db) {
  const members = db.collection<Member>(collection);
  const records = createRecordStore<Member>(db, collection, 'member');

  async function emailsOf(wanted: Pick<Member, 'partnerId'> & Partial<Member>): Promise<string[]> {
    const found = await members
      .find({ ...wanted, status: 'active' }, { projection: { email: 1 } })
      .limit(mostEmails)
      .toArray();
    return found.flatMap(({ email }) => email ?? []);
  }

  return {
    ...records,

    /** The e-mail addresses of active members who want warnings. */
    warningEmails: (partnerId: string): Promise<string[]> => emailsOf({ partnerId, warnings: true }),

    /** The e-mail addresses of active owners. */
    ownerEmails: (partnerId: string): Promise<string[]> => emailsOf({ partnerId, role: 'owner' }),

    /** Whether the partner has an active owner. @param exceptId a member who does not count */
    async hasActiveOwner(partnerId: string, exceptId?: string): Promise<boolean> {
      const owner = { partnerId, role: 'owner', status: 'active' } as const;
      const found = await members.findOne(
        exceptId === undefined ? owner : { ...owner, _id: { $ne: exceptId } },
        { projection: { _id: 1 } },
      );
      return found !== null;
    },

    /** Makes changes fail that were decided on the present revision. */
    async addRevision({ _id, revision }: Pick<Member, '_id' | 'revision'>): Promise<void> {
      await members.updateOne({ _id, revision }, { $inc: { revision: 1 } });
    },

    findInvited: async (hash: string): Promise<Member | undefined> =>
      (await members.findOne({ 'invitation.hash': hash })) ?? undefined,

    findByCredential: async (credentialId: string): Promise<Member | undefined> =>
      (await members.findOne({ 'passkey.credentialId': credentialId })) ?? undefined,

    /**
     * Records that a passkey answered a challenge, so that the same answer is not accepted again.
     * @param issuedAt when the challenge was issued, in ms since 1970
     * @returns false if the passkey has answered this or a later challenge, or does not belong to the member any more
     */
    async recordAnswer(
      { memberId, credentialId }: { memberId: string; credentialId: string },
      { issuedAt, use, at }: { issuedAt: number; use: PasskeyUse; at: Date },
    ): Promise<boolean> {
      for (;;) {
        const member = await records.find(memberId);
        const passkeys = member ? passkeysOf(member) : [];
        const used = passkeys.find((passkey) => passkey.credentialId === credentialId);
        if (member?.status !== 'active' || !used || used.answeredAt >= issuedAt) return false;
        const changed = { ...used, ...use, answeredAt: issuedAt, lastUsedAt: at };
        const field = passkeyField(passkeys.map((passkey) => (passkey === used ? changed : passkey)));
        const { matchedCount } = await members.updateOne(
          { _id: memberId, revision: member.revision },
          { $set: { ...field, lastSignInAt: at }, $inc: { revision: 1 } },
        );
        // Another change came first, so its revision is read again.
        if (matchedCount > 0) return true;
      }
    },

    /**
     * Ends all invitations. A database that was restored from a backup may have invitations that were used or replaced later.
     * @returns how many were ended
     */
    async endInvitations(): Promise<number> {
      const { modifiedCount } = await members.updateMany(
        { 'invitation.hash': { $exists: true } },
        { $unset: { invitation: '' }, $inc: { revision: 1 } },
      );
      return modifiedCount;
    },
  };
}
