import type { Db } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { EndedAttempt } from './endpoint-health.ts';
import { countByKey, type KeyCount } from './key-count-store.ts';

const dayMs = 24 * 3_600_000;
/** Among this many deliveries of a key, attempted ones are searched; of those, at most `mostSampled` are read. */
const mostSearched = 2_000;
const mostSampled = 500;
/** How many failed and overdue deliveries are searched for their keys. */
const mostTroubled = 5_000;
const mostQueued = 10_000;

export type Owner = Omit<KeyCount, 'total'>;

export type HealthStore = ReturnType<typeof createHealthStore>;

/** Reads deliveries to derive the health of endpoints. Each read uses an index and has a limit. */
export function createHealthStore(db: Db) {
  const deliveries = db.collection<Delivery>('deliveries');
  const keys = db.collection<{ _id: string; partnerId: string; mode: Mode; webhook?: object }>('apiKeys');
  type Order = Record<string, 1 | -1>;
  const keysOf = (match: object, sort: Order, hint: Order) =>
    countByKey(deliveries, [{ $match: match }, { $sort: sort }, { $limit: mostTroubled }], { hint });

  return {
    /** Attempts that have ended within a day, in order of time. */
    async attempts(keyId: string, now: Date): Promise<EndedAttempt[]> {
      return deliveries
        .aggregate<EndedAttempt>([
          { $match: { keyId, createdAt: { $gt: new Date(now.getTime() - dayMs) } } },
          { $sort: { createdAt: -1, _id: -1 } },
          { $limit: mostSearched },
          { $match: { 'attempts.0': { $exists: true } } },
          { $limit: mostSampled },
          { $unwind: '$attempts' },
          { $replaceWith: '$attempts' },
          { $match: { $or: [{ status: { $exists: true } }, { error: { $exists: true } }] } },
          { $project: { at: 1, status: 1, error: 1, durationMs: 1 } },
          { $sort: { at: 1 } },
        ])
        .toArray();
    },

    queued: (keyId: string, now: Date): Promise<number> =>
      deliveries.countDocuments(
        { status: 'pending', keyId, lane: { $in: ['first', 'retry'] }, nextAttemptAt: { $lte: now } },
        { limit: mostQueued },
      ),

    /** Keys whose deliveries have failed within a day, wait for a retry, or are overdue. Keys with the most come first. */
    async troubled(now: Date, limit: number): Promise<Owner[]> {
      const [failed, waiting] = await Promise.all([
        keysOf(
          { status: 'failed', createdAt: { $gt: new Date(now.getTime() - dayMs) } },
          { createdAt: -1, _id: -1 },
          { status: 1, createdAt: -1, _id: -1 },
        ),
        keysOf(
          { status: 'pending', nextAttemptAt: { $gt: new Date(0) } },
          { nextAttemptAt: 1 },
          { nextAttemptAt: 1 },
        ),
      ]);
      const all = [...failed, ...waiting].toSorted(
        (one, other) =>
          Number(one.mode === 'test') - Number(other.mode === 'test') || other.total - one.total,
      );
      const found = new Map(all.map(({ keyId, partnerId, mode }) => [keyId, { keyId, partnerId, mode }]));
      return [...found.values()].slice(0, limit);
    },

    /** The keys of a partner that have a webhook URL. */
    async ofPartner(partnerId: string, limit: number): Promise<Owner[]> {
      const found = await keys
        .find({ partnerId, webhook: { $exists: true } })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: keyId, mode }) => ({ keyId, partnerId, mode }));
    },
  };
}
