import type { Collection } from 'mongodb';
import type { Delivery, Lane } from './delivery.ts';
import { keysOfWaiting } from './keys-of-deliveries-store.ts';

const longestDueFirst = { nextAttemptAt: 1 } as const;
/** With fewer due deliveries, one query finds all of them. With more, only their keys are read, from the index. */
const mostSearched = 4_000;

/** Ids of an endpoint's due deliveries in each lane, the longest due first. */
export type DueIds = Record<Lane, string[]>;

/** What is due. */
export interface FoundDue {
  /** How many deliveries are due; a lower bound if the ids were not read. */
  count: number;
  /** By key, the ids of all its due deliveries; undefined if very many are due, so that the ids were not read. */
  byKey: Map<string, DueIds | undefined>;
}

/** Groups the ids of due deliveries by key and lane. Their order stays. */
export function idsByKey(due: readonly Pick<Delivery, '_id' | 'keyId' | 'lane'>[]): Map<string, DueIds> {
  const byKey = new Map<string, DueIds>();
  for (const { _id, keyId, lane } of due) {
    const ids = byKey.get(keyId) ?? { first: [], retry: [] };
    ids[lane].push(_id);
    byKey.set(keyId, ids);
  }
  return byKey;
}

/** The queries of the delivery store for pending deliveries by their due time. */
export const dueQueries = (deliveries: Collection<Delivery>) => ({
  /** Ids of an endpoint's due deliveries, the longest due first. */
  async due(keyId: string, lane: Lane, { now, limit }: { now: Date; limit: number }): Promise<string[]> {
    const found = await deliveries
      .find({ status: 'pending', keyId, lane, nextAttemptAt: { $lte: now } })
      .sort(longestDueFirst)
      .project<Pick<Delivery, '_id'>>({ _id: 1 })
      .limit(limit)
      .toArray();
    return found.map(({ _id }) => _id);
  },

  /** Finds the keys with due deliveries, even if one endpoint has more waiting deliveries than one query reads. */
  async dueByKey(now: Date): Promise<FoundDue> {
    const due = { status: 'pending' as const, nextAttemptAt: { $lte: now } };
    const longestDue = await deliveries
      .find(due, { projection: { keyId: 1, lane: 1 } })
      .sort(longestDueFirst)
      .limit(mostSearched)
      .toArray();
    const count = longestDue.length;
    if (count < mostSearched) return { count, byKey: idsByKey(longestDue) };
    const keys = await keysOfWaiting(deliveries, due);
    return { count, byKey: new Map(keys.map(({ keyId }) => [keyId, undefined])) };
  },

  /** The due times of waiting deliveries in a span of time, the earliest first. */
  async dueTimes(from: Date, before: Date, limit: number): Promise<Date[]> {
    const due = { status: 'pending' as const, nextAttemptAt: { $gte: from, $lt: before } };
    const found = await deliveries
      .find(due, { projection: { nextAttemptAt: 1 } })
      .sort(longestDueFirst)
      .limit(limit)
      .toArray();
    return found.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []);
  },

  /** The seconds between two times in which deliveries become due. Each is given as the time when it begins. */
  async dueSeconds(from: Date, until: Date): Promise<Date[]> {
    const groups = await deliveries
      .aggregate<{ _id: Date }>([
        { $match: { status: 'pending', nextAttemptAt: { $gte: from, $lte: until } } },
        { $group: { _id: { $dateTrunc: { date: '$nextAttemptAt', unit: 'second' } } } },
        { $sort: { _id: 1 } },
      ])
      .toArray();
    return groups.map(({ _id }) => _id);
  },
});
