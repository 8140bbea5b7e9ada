import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';

/** One request as it is kept: who, what, how it ended. */
export interface RequestRecord {
  _id: string;
  at: Date;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  error?: string;
  description?: string;
  clientId?: string;
  sessionId?: string;
  integrationId?: string;
  retryAfter?: number;
  /** The network it came from; taken out where the session's user is erased. */
  address?: string;
  purgeAt: Date;
}

const collection = 'requestLog';
export const indexes: IndexDeclaration[] = [
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
  { collection, key: { sessionId: 1 }, sparse: true },
];

export type RequestStore = ReturnType<typeof createRequestStore>;

export function createRequestStore(db: Db) {
  // A lost line is no harm, and no answer waits for the journal because of one.
  const requests = db.collection<RequestRecord>(collection, { writeConcern: { w: 1, journal: false } });
  return {
    async add(records: RequestRecord[]): Promise<void> {
      if (records.length > 0) await requests.insertMany(records, { ordered: false });
    },
    /** Takes out where requests of these sessions came from. */
    async forgetAddresses(sessionIds: readonly string[]): Promise<void> {
      await requests.updateMany({ sessionId: { $in: [...sessionIds] } }, { $unset: { address: '' } });
    },
    async find(id: string, now: Date): Promise<RequestRecord | undefined> {
      return (await requests.findOne({ _id: id, purgeAt: { $gt: now } })) ?? undefined;
    },
  };
}
