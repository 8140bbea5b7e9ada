import type { Db } from 'mongodb';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';

export interface Confirmation {
  memberId: string;
  partnerId: string;
  /** The member's role. The program may act in this role only. */
  role: MemberRole;
  /** When the member had last used the passkey. */
  passkeyAt: Date;
  /** The credential id of the passkey. Its removal ends the confirmation. */
  credentialId: string;
}

/** A program that asks to be signed in (RFC 8628). */
export interface DeviceRequest {
  /** SHA-256 of the device code. */
  _id: string;
  /** Keyed digest of the user code. The code is too short for a plain hash. */
  userCode: string;
  status: 'pending' | 'confirmed' | 'denied' | 'used';
  /** The name that the program gives its machine. */
  name: string;
  address: string;
  /** Seconds that have to pass between two polls. */
  interval: number;
  polledAt?: Date;
  confirmation?: Confirmation;
  createdAt: Date;
  expiresAt: Date;
}

/** What a member decides about a pending request. */
export type Decision = { status: 'confirmed'; confirmation: Confirmation } | { status: 'denied' };

const collection = 'deviceRequests';
export const indexes: IndexDeclaration[] = [
  { collection, key: { userCode: 1 }, unique: true },
  // For ten minutes after the expiry, a poll is answered with `expired_token`.
  { collection, key: { expiresAt: 1 }, expireAfterSeconds: 600 },
];

export function createDeviceRequestStore(db: Db) {
  const requests = db.collection<DeviceRequest>(collection);
  const pending = (userCode: string, now: Date) =>
    ({ userCode, status: 'pending', expiresAt: { $gt: now } }) as const;

  return {
    async insert(request: DeviceRequest): Promise<void> {
      await requests.insertOne(request);
    },

    /** @param id SHA-256 of the device code */
    find: async (id: string): Promise<DeviceRequest | undefined> =>
      (await requests.findOne({ _id: id })) ?? undefined,

    findPending: async (userCode: string, now: Date): Promise<DeviceRequest | undefined> =>
      (await requests.findOne(pending(userCode, now))) ?? undefined,

    /** Stores the time of a poll. @returns the request as it was before */
    recordPoll: async (id: string, now: Date): Promise<DeviceRequest | undefined> =>
      (await requests.findOneAndUpdate({ _id: id }, { $set: { polledAt: now } })) ?? undefined,

    /** Adds to the seconds that have to pass between two polls. */
    async lengthenInterval(id: string, seconds: number): Promise<void> {
      await requests.updateOne({ _id: id }, { $inc: { interval: seconds } });
    },

    /** Stores the decision of a member. @returns false if the request is not pending any more */
    async decide(userCode: string, now: Date, decision: Decision): Promise<boolean> {
      const { matchedCount } = await requests.updateOne(pending(userCode, now), { $set: decision });
      return matchedCount > 0;
    },

    /** Marks a confirmed request as used. @returns false if another poll has used it */
    async use(id: string): Promise<boolean> {
      const { matchedCount } = await requests.updateOne(
        { _id: id, status: 'confirmed' },
        { $set: { status: 'used' } },
      );
      return matchedCount > 0;
    },

    /** Deletes all requests, for a database that was restored from a backup. */
    async endAll(): Promise<void> {
      await requests.deleteMany({});
    },
  };
}
