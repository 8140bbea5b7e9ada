import type { Collection, Db, Filter } from 'mongodb';
import type { Total } from '../../../contracts/admin/references.ts';
import { countThrough, divideFilter } from '../../platform/database/reads/look-through.ts';
import { type Page, readPage } from '../../platform/database/reads/pages.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { insertMissing } from '../../platform/database/write-groups.ts';
import type { StoredEvent } from './delivery.ts';

export const collection = 'events';

export const indexes: IndexDeclaration[] = [
  { collection, key: { keyId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { sessionId: 1 }, sparse: true },
  { collection, key: { sub: 1 }, sparse: true },
  { collection, key: { createdAt: -1, _id: -1 } },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/**
 * The fields by which `divideFilter` chooses an index for a count. Few events have the same value of a `selective` field. The
 * index of a `sorted` field also contains `createdAt`, so it serves a period too.
 */
const indexed = { selective: ['sessionId', 'sub'], sorted: ['keyId', 'partnerId'] };

/** Ids are keyed hashes, so they are distributed evenly. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export type EventStore = ReturnType<typeof createEventStore>;

export function createEventStore(db: Db) {
  const events: Collection<StoredEvent> = db.collection(collection);
  /** The database deletes expired events with a delay, so reads that lead to a delivery leave them out. */
  const unexpired = () => ({ purgeAt: { $gt: new Date() } });

  return {
    insert: (documents: readonly StoredEvent[]) => insertMissing(events, documents),

    find: (id: string): Promise<StoredEvent | null> => events.findOne({ _id: id, ...unexpired() }),

    /** Newest first; `after` is the last event of the page before. */
    list: (filter: Filter<StoredEvent>, page: Page): Promise<StoredEvent[]> => readPage(events, filter, page),

    count: (filter: Filter<StoredEvent>): Promise<Total> =>
      countThrough(events, divideFilter(filter, indexed, 'createdAt')),

    /** Oldest first; `after` is the last event of the page before. */
    page: (filter: Filter<StoredEvent>, page: Page): Promise<StoredEvent[]> =>
      readPage(events, filter, { ...page, oldestFirst: true }),

    /**
     * The events of one key until a time, oldest first; `after` is the last event of the page before. Its time is also the lower
     * bound of the index, so that earlier pages are not read again.
     */
    ofKey(
      keyId: string,
      { until, limit, after }: { until: Date; limit: number; after: StoredEvent | undefined },
    ): Promise<StoredEvent[]> {
      const period = { ...(after ? { $gte: after.createdAt } : {}), $lte: until };
      const hint = { keyId: 1, createdAt: -1, _id: -1 };
      return readPage(events, { keyId, createdAt: period }, { oldestFirst: true, limit, after, hint });
    },

    /** Events by their ids; expired ones are left out. */
    async findAll(ids: readonly string[]): Promise<Map<string, StoredEvent>> {
      const found = await events.find({ _id: { $in: [...ids] }, ...unexpired() }).toArray();
      return new Map(found.map((event) => [event._id, event]));
    },

    async bodies(ids: readonly string[]): Promise<Map<string, string>> {
      const found = await events.find({ _id: { $in: [...ids] } }).toArray();
      return new Map(found.map(({ _id, body }) => [_id, body]));
    },

    /** Keeps events at least until `purgeAt`, because an event must not be deleted before its deliveries. */
    async keepUntil(ids: readonly string[], purgeAt: Date): Promise<void> {
      await events.updateMany({ _id: { $in: [...ids] } }, { $max: { purgeAt } });
    },
  };
}
