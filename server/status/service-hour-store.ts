import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { hour } from '../platform/http/windows.ts';

/** What all processes did in an hour, added up. */
export interface Counts {
  requests: number;
  errors: number;
  webhooks: number;
  webhooksTaken: number;
}

/** One hour of the service. Its name is the beginning of the hour, so that hours are in the order of their names. */
export interface ServiceHour extends Counts {
  _id: string;
  /** Minutes in which a process with the role `api` could serve: a bit each, of the first and of the second half hour. */
  early: number;
  late: number;
  purgeAt: Date;
}

/** What a process adds to an hour. */
export type Addition = Omit<ServiceHour, '_id' | 'purgeAt'>;

/** Days that the records are kept and shown. */
export const daysKept = 90;
/** Milliseconds after its beginning for which an hour is kept. */
export const hourRetentionMs = (daysKept + 1) * 24 * hour;

const collection = 'serviceHours';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

export type ServiceHourStore = ReturnType<typeof createServiceHourStore>;

export function createServiceHourStore(db: Db) {
  // Written without the journal: no money depends on it, and a lost minute is of the moment in which the database fell.
  const hours = db.collection<ServiceHour>(collection, { writeConcern: { w: 1, journal: false } });
  return {
    /** @param at the beginning of the hour */
    async add(at: number, { early, late, ...counts }: Addition): Promise<void> {
      await hours.updateOne(
        { _id: new Date(at).toISOString() },
        {
          $inc: counts,
          $bit: { early: { or: early }, late: { or: late } },
          $setOnInsert: { purgeAt: new Date(at + hourRetentionMs) },
        },
        { upsert: true },
      );
    },

    /** Hours from one on, the oldest first: 2,184 at most. */
    read: (since: number): Promise<ServiceHour[]> =>
      hours
        .find({ _id: { $gte: new Date(since).toISOString() } })
        .sort({ _id: 1 })
        .toArray(),
  };
}
