import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { hour } from '../../platform/http/limits/windows.ts';

/** The counts of an hour, added up over all processes. */
export interface Counts {
  requests: number;
  /** Requests that ended with an error of the service. */
  errors: number;
  /** Attempts to send live webhooks. */
  webhooks: number;
  /** Those of them that the receiver has acknowledged. */
  webhooksTaken: number;
}

/** The record of one hour. Its id is the beginning of the hour, so that the order of ids is the order of time. */
export interface ServiceHour extends Counts {
  _id: string;
  /**
   * The minutes in which a process with the role `api` could serve, as bits: bit 0 of `early` is minute 0 of the hour, and bit 0 of
   * `late` is minute 30. There are two fields, because JavaScript combines bits in integers of 32 bits.
   */
  early: number;
  late: number;
  purgeAt: Date;
}

/** The counts and minutes that a process adds to an hour. */
export type Addition = Omit<ServiceHour, '_id' | 'purgeAt'>;

export const daysKept = 90;
/**
 * How long the record of an hour is kept after the beginning of the hour, in milliseconds. It is a day more than is shown, so
 * that no shown hour is deleted.
 */
export const hourRetentionMs = (daysKept + 1) * 24 * hour;

const collection = 'serviceHours';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

export type ServiceHourStore = ReturnType<typeof createServiceHourStore>;

export function createServiceHourStore(db: Db) {
  // Writes do not wait for the journal. A crash of the database can lose a minute, which was an outage anyway.
  const hours = db.collection<ServiceHour>(collection, { writeConcern: { w: 1, journal: false } });
  return {
    /**
     * Adds counts and minutes to an hour. A minute counts if any process has set its bit, so the bits are combined by `or`.
     * @param at the beginning of the hour, in milliseconds since the epoch
     */
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

    /** Returns the hours since a time, the oldest first. There are at most the 24 hours of each of the 91 days that are kept. */
    read: (since: number): Promise<ServiceHour[]> =>
      hours
        .find({ _id: { $gte: new Date(since).toISOString() } })
        .sort({ _id: 1 })
        .toArray(),
  };
}
