import type { Db, Document } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { minute } from '../../platform/http/limits/windows.ts';
import { requestRetentionMs } from './request-store.ts';

/** How many requests of each kind a process did not write to the log. */
export interface Dropped {
  successes: number;
  failures: number;
}

/** A minute in which requests were dropped. The id is its beginning, in the format of RFC 3339. */
interface Gap extends Dropped {
  _id: string;
  purgeAt: Date;
}

const collection = 'requestGaps';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

const minuteOf = (at: number): string => new Date(Math.floor(at / minute) * minute).toISOString();

interface Counted {
  since: string;
  until?: string | undefined;
  /** A status or a class, such as `402` or `4xx`. Without it, all. */
  status?: string | undefined;
}

function kindOf(status: string | undefined): Document {
  if (status === undefined) return {};
  return /^[45]/.test(status) ? { failures: { $gt: 0 } } : { successes: { $gt: 0 } };
}

export type RequestGapStore = ReturnType<typeof createRequestGapStore>;

/** Stores when requests were dropped from the log, so that counts of the log can say that they are not exact. */
export function createRequestGapStore(db: Db) {
  const gaps = db.collection<Gap>(collection);
  return {
    /** @param at when they were dropped, in milliseconds since the epoch */
    async add(dropped: Dropped, at: number): Promise<void> {
      const purgeAt = new Date(at + requestRetentionMs + minute);
      await gaps.updateOne(
        { _id: minuteOf(at) },
        { $inc: { ...dropped }, $set: { purgeAt } },
        { upsert: true },
      );
    },
    /** Returns since when such requests are only a sample, or null if all are in the log. */
    async sampledSince({ since, until, status }: Counted): Promise<string | null> {
      const first = await gaps.findOne(
        {
          _id: { $gte: minuteOf(Date.parse(since)), ...(until === undefined ? {} : { $lt: until }) },
          ...kindOf(status),
        },
        { sort: { _id: 1 }, hint: { _id: 1 } },
      );
      if (!first) return null;
      return first._id > since ? first._id : since;
    },
  };
}
