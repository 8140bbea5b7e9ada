import type { Collection, Db, Document, Filter } from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';
import type { SentName } from '../../../contracts/events.ts';
import {
  countThrough,
  divideFilter,
  givenFields,
  period,
} from '../../platform/database/reads/look-through.ts';
import { type Page, readPage } from '../../platform/database/reads/pages.ts';
import { type Delivery, firstDueOf, type InFlight, inAnyLane, type Lane } from '../delivery/delivery.ts';
import { collection, overdueOfAnyKey } from '../delivery/delivery-store.ts';

const longestDueFirst = { nextAttemptAt: 1 } as const;
const longestOverdueFirst = { 'overdue.since': 1 } as const;

/**
 * The fields by which `divideFilter` chooses an index for a count. Few deliveries have the same value of a `selective` field.
 * The index of a `sorted` field also contains `createdAt`, so it serves a period too.
 */
const indexed = { selective: ['eventId'], sorted: ['keyId', 'partnerId', 'status'] };

/** Conditions of lists of events and deliveries: values of fields, and a period of time. */
interface Narrowing {
  /** RFC 3339; included. */
  since?: string | undefined;
  /** RFC 3339; not included. */
  until?: string | undefined;
  event?: SentName | undefined;
  [field: string]: string | undefined;
}

export function queryOf({ since, until, event, ...fields }: Narrowing): Document {
  return { ...givenFields({ ...fields, type: event }), ...period('createdAt', since, until) };
}

export const finalStatuses = ['delivered', 'failed', 'skipped'] as const;

/** The new due time of an attempt, and what changed it. */
export interface NewDue {
  at: Date;
  trigger: 'run' | 'reschedule';
}

/**
 * The update for a new due time. It is the operator's decision, so lateness counts from the new time. A run by hand never makes an attempt due later, because overdue attempts are sent in the order
 * of their due times.
 */
const updateDueTime = ({ at, trigger }: NewDue) =>
  trigger === 'run'
    ? { $set: { trigger }, $min: { nextAttemptAt: at } }
    : { $set: { trigger, nextAttemptAt: at }, $unset: { overdue: '' as const } };

/** The update that ends a waiting delivery. A cancelled delivery is a skipped one with this reason. */
const cancelUpdate = (at: Date) => ({
  $set: { status: 'skipped' as const, skipped: { reason: 'cancelled' as const, at }, endedAt: at },
  $unset: { nextAttemptAt: '' as const, overdue: '' as const },
});

export function createDeliveryQueryStore(db: Db) {
  const deliveries: Collection<Delivery> = db.collection(collection);
  const dueWithin = (second: Date): Filter<Delivery> => ({
    status: 'pending',
    nextAttemptAt: { $gte: second, $lt: new Date(second.getTime() + 1000) },
  });

  const dueWith = (second: Date, { limit }: { limit: number }): Promise<Delivery[]> =>
    deliveries.find(dueWithin(second)).sort({ nextAttemptAt: 1 }).limit(limit).toArray();

  return {
    /** Counts the deliveries that have not ended, and finds when the oldest waiting one became due. */
    async queue(): Promise<{ pending: number; oldestDueAt?: Date }> {
      const notEnded = { status: { $in: ['pending' as const, 'in_flight' as const] } };
      const [pending, ...oldest] = await Promise.all([
        deliveries.countDocuments(notEnded),
        deliveries.findOne({ status: 'pending' }, { hint: longestDueFirst, sort: longestDueFirst }),
        deliveries.findOne(overdueOfAnyKey, { hint: longestOverdueFirst, sort: longestOverdueFirst }),
      ]);
      const [oldestDueAt] = oldest
        .flatMap((delivery) => (delivery && firstDueOf(delivery)) ?? [])
        .toSorted((one, other) => one.getTime() - other.getTime());
      return { pending, ...(oldestDueAt && { oldestDueAt }) };
    },

    find: (id: string): Promise<Delivery | null> => deliveries.findOne({ _id: id }),

    /** The deliveries of events, oldest first. */
    ofEvents(eventIds: readonly string[]): Promise<Delivery[]> {
      return deliveries
        .find({ eventId: { $in: [...eventIds] } })
        .sort({ createdAt: 1, _id: 1 })
        .toArray();
    },

    /** Newest first; `after` is the last delivery of the page before. */
    list: (filter: Filter<Delivery>, page: Page): Promise<Delivery[]> => readPage(deliveries, filter, page),

    count: (filter: Filter<Delivery>): Promise<Total> =>
      countThrough(deliveries, divideFilter(filter, indexed, 'createdAt')),

    /** Oldest first; `after` is the last delivery of the page before. */
    page: (filter: Filter<Delivery>, page: Page): Promise<Delivery[]> =>
      readPage(deliveries, filter, { ...page, oldestFirst: true }),

    async findAll(ids: readonly string[]): Promise<Map<string, Delivery>> {
      const found = await deliveries.find({ _id: { $in: [...ids] } }).toArray();
      return new Map(found.map((delivery) => [delivery._id, delivery]));
    },

    /** Counts the due retries and resends of a key, up to `most`. Deliveries of bulk jobs are among them. */
    countDueRetries: (keyId: string, now: Date, most: number): Promise<number> =>
      deliveries.countDocuments(
        { status: 'pending', keyId, lane: 'retry', nextAttemptAt: { $lte: now } },
        { limit: most },
      ),

    /**
     * Counts the waiting resends and samples of a key, up to `most`. Those of bulk jobs are not among them, because a job waits for
     * its own.
     */
    countByHand: (keyId: string, most: number): Promise<number> =>
      deliveries.countDocuments(
        {
          status: 'pending',
          keyId,
          ...inAnyLane,
          bulkId: { $exists: false },
          $or: [{ resendOf: { $exists: true } }, { trigger: 'test' }],
        },
        { limit: most },
      ),

    /** Cancels those of these deliveries that are waiting. @returns how many were cancelled */
    async cancelAll(ids: readonly string[], at: Date): Promise<number> {
      const { modifiedCount } = await deliveries.updateMany(
        { _id: { $in: [...ids] }, status: 'pending' },
        cancelUpdate(at),
      );
      return modifiedCount;
    },

    /** Reschedules those deliveries that still wait and are kept until their new time. @returns how many were rescheduled */
    async moveAll(dues: readonly { _id: string; at: Date }[]): Promise<number> {
      if (dues.length === 0) return 0;
      const { matchedCount } = await deliveries.bulkWrite(
        dues.map(({ _id, at }) => ({
          updateOne: {
            filter: { _id, status: 'pending' as const, purgeAt: { $gt: at } },
            update: updateDueTime({ at, trigger: 'reschedule' }),
          },
        })),
        { ordered: false },
      );
      return matchedCount;
    },

    /** Cancels a delivery; null if it does not wait. */
    cancel(id: string, at: Date): Promise<Delivery | null> {
      return deliveries.findOneAndUpdate({ _id: id, status: 'pending' }, cancelUpdate(at), {
        returnDocument: 'after',
      });
    },

    countDue: (second: Date): Promise<number> => deliveries.countDocuments(dueWithin(second)),

    /** Counts the attempts in flight in all processes, by key. */
    async inFlight(): Promise<Map<string, InFlight>> {
      const countOf = (lane: Lane) => ({ $sum: { $cond: [{ $eq: ['$lane', lane] }, 1, 0] } });
      const groups = await deliveries
        .aggregate<InFlight & { _id: string }>([
          { $match: { status: 'in_flight' } },
          { $group: { _id: '$keyId', first: countOf('first'), retry: countOf('retry') } },
        ])
        .toArray();
      return new Map(groups.map(({ _id, ...counts }) => [_id, counts]));
    },

    dueWith,

    /** The earliest time at which a delivery that is due in this second is deleted; undefined if none is due. */
    async earliestPurgeDate(second: Date): Promise<Date | undefined> {
      const [first] = await deliveries.find(dueWithin(second)).sort({ purgeAt: 1 }).limit(1).toArray();
      return first?.purgeAt;
    },

    /** Cancels the deliveries that are due in this second. @returns how many were cancelled, and the ids of the first `limit` */
    async cancelDue(second: Date, at: Date, limit: number): Promise<{ count: number; ids: string[] }> {
      const first = (await dueWith(second, { limit })).map(({ _id }) => _id);
      const { modifiedCount } = await deliveries.updateMany(dueWithin(second), cancelUpdate(at));
      // The time distinguishes the deliveries that this call has cancelled from those that are sent or were cancelled meanwhile.
      const cancelled = await deliveries
        .find({ _id: { $in: first }, skipped: { reason: 'cancelled', at } })
        .project<{ _id: string }>({ _id: 1 })
        .toArray();
      return { count: modifiedCount, ids: cancelled.map(({ _id }) => _id) };
    },

    /** Reschedules the deliveries that are due in this second. @returns how many were rescheduled */
    async moveDue(second: Date, to: NewDue): Promise<number> {
      const { matchedCount } = await deliveries.updateMany(dueWithin(second), updateDueTime(to));
      return matchedCount;
    },

    /** Reschedules a delivery; null if it does not wait, or is deleted before the new time. */
    move(id: string, to: NewDue): Promise<Delivery | null> {
      const movable = { _id: id, status: 'pending' as const, purgeAt: { $gt: to.at } };
      return deliveries.findOneAndUpdate(movable, updateDueTime(to), { returnDocument: 'after' });
    },
  };
}
