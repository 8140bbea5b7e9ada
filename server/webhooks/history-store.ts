import type { Collection, Db, Document, Filter } from 'mongodb';
import type { EventType } from '../../contracts/events.ts';
import type { Delivery } from './delivery.ts';
import { insertMissing, newer, older } from './event-store.ts';

const collection = 'deliveries';

/** What lists of events and deliveries can be narrowed by: fields by their value, and a period of time. */
interface Narrowing {
  /** RFC 3339; included. */
  since?: string | undefined;
  /** RFC 3339; not included. */
  until?: string | undefined;
  /** The event's type. */
  event?: EventType | undefined;
  [field: string]: string | undefined;
}

/** The query of a narrowing. */
export function queryOf({ since, until, event, ...fields }: Narrowing): Document {
  const given = Object.entries({ ...fields, type: event }).filter(([, value]) => value !== undefined);
  const from = since === undefined ? {} : { $gte: new Date(since) };
  const to = until === undefined ? {} : { $lt: new Date(until) };
  const period = since === undefined && until === undefined ? {} : { createdAt: { ...from, ...to } };
  return { ...Object.fromEntries(given), ...period };
}

/** Statuses in which a delivery has come to its end. */
export const finalStatuses = ['delivered', 'failed', 'skipped'] as const;

export type HistoryStore = ReturnType<typeof createHistoryStore>;

/** Deliveries as operators look at them and step in; the dispatcher has a store of its own. */
export function createHistoryStore(db: Db) {
  const deliveries: Collection<Delivery> = db.collection(collection);
  const dueWithin = (second: Date): Filter<Delivery> => ({
    status: 'pending',
    nextAttemptAt: { $gte: second, $lt: new Date(second.getTime() + 1000) },
  });

  return {
    insert: (documents: readonly Delivery[]) => insertMissing(deliveries, documents),

    find: (id: string): Promise<Delivery | null> => deliveries.findOne({ _id: id }),

    /** In the order of time. */
    ofEvents(eventIds: readonly string[]): Promise<Delivery[]> {
      return deliveries
        .find({ eventId: { $in: [...eventIds] } })
        .sort({ createdAt: 1, _id: 1 })
        .toArray();
    },

    /** Newest first; `after` is the last delivery of the page before. */
    list(filter: Filter<Delivery>, page: { limit: number; after?: Delivery }): Promise<Delivery[]> {
      return deliveries
        .find({ $and: [filter, page.after ? older(page.after) : {}] })
        .sort({ createdAt: -1, _id: -1 })
        .limit(page.limit)
        .toArray();
    },

    /** Oldest first: what a key's endpoint was owed since then; `after` is the last delivery of the page before. */
    since(keyId: string, since: Date, page: { limit: number; after?: Delivery }): Promise<Delivery[]> {
      return deliveries
        .find({ $and: [{ keyId, createdAt: { $gte: since } }, page.after ? newer(page.after) : {}] })
        .sort({ createdAt: 1, _id: 1 })
        .limit(page.limit)
        .toArray();
    },

    /** Ends a delivery that waits; null where it does not. */
    cancel(id: string, at: Date): Promise<Delivery | null> {
      return deliveries.findOneAndUpdate(
        { _id: id, status: 'pending' },
        {
          $set: { status: 'skipped', skipped: { reason: 'cancelled', at }, endedAt: at },
          $unset: { nextAttemptAt: '' },
        },
        { returnDocument: 'after' },
      );
    },

    /** How many deliveries fall due with each of these seconds, in order. */
    async countDue(seconds: readonly Date[]): Promise<number[]> {
      return Promise.all(seconds.map((second) => deliveries.countDocuments(dueWithin(second))));
    },

    /** Ids of what falls due with a second. */
    async dueWith(second: Date, limit: number): Promise<string[]> {
      const found = await deliveries
        .find(dueWithin(second))
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /** Makes due at once what would fall due with a second. */
    async bringForward(second: Date, now: Date): Promise<void> {
      await deliveries.updateMany(dueWithin(second), { $set: { nextAttemptAt: now, trigger: 'run' } });
    },
  };
}
