import type { Db } from 'mongodb';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { EndedAttempt } from './endpoint-health.ts';
import { countByKey, type KeyCount } from './key-count-store.ts';
import type { KeyOwner } from './key-owner.ts';

const dayMs = 24 * 3_600_000;
/** How many of a key's newest deliveries are searched for attempted ones. A key may have very many that were not attempted yet. */
const mostSearched = 2_000;
/** The most attempted deliveries whose attempts are read. */
const mostAttempted = 500;
/** How many failed deliveries, and how many waiting ones, are searched for the keys of troubled endpoints. */
const mostTroubled = 5_000;
/** The count of a key's due deliveries ends at this number. */
const mostQueued = 10_000;

export type HealthStore = ReturnType<typeof createHealthStore>;

/** Reads deliveries to derive the health of endpoints. Each read uses an index and has a limit. */
export function createHealthStore(db: Db) {
  const deliveries = db.collection<Delivery>('deliveries');
  const keys = db.collection<{ _id: string; partnerId: string; mode: Mode; webhook?: object }>('apiKeys');
  type Order = Record<string, 1 | -1>;
  const newestFirst: Order = { createdAt: -1, _id: -1 };
  /**
   * The keys of the first matching deliveries, with the number of deliveries of each. `hint` names the index, because the
   * planner may choose a worse one.
   */
  const keysOf = (match: object, { sort, hint }: { sort: Order; hint: Order }) =>
    countByKey(deliveries, [{ $match: match }, { $sort: sort }, { $limit: mostTroubled }], { hint });

  return {
    /** Attempts that have ended within a day, in order of time. */
    async attempts(keyId: string, now: Date): Promise<EndedAttempt[]> {
      return deliveries
        .aggregate<EndedAttempt>([
          { $match: { keyId, createdAt: { $gt: new Date(now.getTime() - dayMs) } } },
          { $sort: newestFirst },
          { $limit: mostSearched },
          { $match: { 'attempts.0': { $exists: true } } },
          { $limit: mostAttempted },
          { $unwind: '$attempts' },
          { $replaceWith: '$attempts' },
          // An attempt that is under way has neither a status nor an error yet.
          { $match: { $or: [{ status: { $exists: true } }, { error: { $exists: true } }] } },
          { $project: { at: 1, status: 1, error: 1, durationMs: 1 } },
          { $sort: { at: 1 } },
        ])
        .toArray();
    },

    /** Counts the due deliveries of a key, at most `mostQueued`. */
    queued: (keyId: string, now: Date): Promise<number> =>
      deliveries.countDocuments(
        // All lanes are named, because the index contains the lane between the key and the time.
        { status: 'pending', keyId, lane: { $in: ['first', 'retry'] }, nextAttemptAt: { $lte: now } },
        { limit: mostQueued },
      ),

    /**
     * Keys with deliveries that have failed within a day, or wait for an attempt. Live keys come first, and among them those
     * with the most such deliveries.
     */
    async troubled(now: Date, limit: number): Promise<KeyOwner[]> {
      const [failed, waiting] = await Promise.all([
        keysOf(
          { status: 'failed', createdAt: { $gt: new Date(now.getTime() - dayMs) } },
          { sort: newestFirst, hint: { status: 1, ...newestFirst } },
        ),
        keysOf({ status: 'pending' }, { sort: { nextAttemptAt: 1 }, hint: { nextAttemptAt: 1 } }),
      ]);
      const liveFirst = (one: KeyCount, other: KeyCount) =>
        Number(one.mode === 'test') - Number(other.mode === 'test');
      const sorted = [...failed, ...waiting].toSorted(
        (one, other) => liveFirst(one, other) || other.total - one.total,
      );
      // A key may have both failed and waiting deliveries. The map keeps its first place.
      const owners = new Map(sorted.map(({ total: _total, ...owner }) => [owner.keyId, owner]));
      return [...owners.values()].slice(0, limit);
    },

    /** The keys of a partner that have a webhook URL. */
    async ofPartner(partnerId: string, limit: number): Promise<KeyOwner[]> {
      const found = await keys
        .find({ partnerId, webhook: { $exists: true } })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id: keyId, mode }) => ({ keyId, partnerId, mode }));
    },
  };
}
