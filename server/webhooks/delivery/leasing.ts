import { randomBytes } from 'node:crypto';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Capacity } from './concurrency-limits.ts';
import type { Leased } from './delivery.ts';
import type { DeliveryStore, FinishedAttempt, Lease } from './delivery-store.ts';
import type { LeaseResult } from './dispatcher.ts';
import { createDueCache } from './due-cache.ts';

interface Settings {
  deliveries: Pick<DeliveryStore, 'due' | 'lease' | 'record'>;
  clock: Pick<Clock, 'now'>;
  /** Milliseconds until another process may send the same attempt. */
  leaseTime: number;
}

/** Leases and records the attempts of all endpoints in group commits. */
export function createLeasing({ deliveries, clock, leaseTime }: Settings) {
  const now = () => new Date(clock.now());
  /** A lease with a new token, from now. */
  function newLease(): Lease {
    const at = now();
    return {
      token: randomBytes(16).toString('base64url'),
      now: at,
      until: new Date(at.getTime() + leaseTime),
    };
  }
  const dueCache = createDueCache((keyId, lane, limit) => deliveries.due(keyId, lane, { now: now(), limit }));

  /** Leases deliveries, for several endpoints in one update. Each call gets those of its deliveries that are leased now. */
  const leaseAll = createGroupCommit<readonly string[], Leased[]>({
    run: async (idsOfCalls) => {
      const leased = await deliveries.lease(idsOfCalls.flat(), newLease());
      const byId = new Map(leased.map((delivery) => [delivery._id, delivery]));
      // A delivery may be named twice: the cache knows it as a first attempt, and a query has found its retry.
      const takeOnce = (id: string): Leased[] => {
        const delivery = byId.get(id);
        byId.delete(id);
        return delivery ? [delivery] : [];
      };
      return idsOfCalls.map((ids) => ids.flatMap(takeOnce));
    },
  });
  const record = createGroupCommit<FinishedAttempt, undefined>({
    run: async (finishedAttempts) => {
      await deliveries.record(finishedAttempts);
      return finishedAttempts.map(() => undefined);
    },
  });

  return {
    newLease,
    add: dueCache.add,
    invalidate: dueCache.invalidate,
    reorder: dueCache.reorder,

    /** Leases due deliveries of an endpoint, up to its capacity. */
    async lease(capacity: Capacity): Promise<LeaseResult> {
      const { ids, more } = await dueCache.take(capacity);
      try {
        return { leased: ids.length === 0 ? [] : await leaseAll(ids), tried: ids.length, more };
      } catch (error) {
        // The cache no longer has the ids, but the deliveries are still due, so they must be queried again.
        dueCache.invalidate(capacity.keyId);
        throw error;
      }
    },
    record,
  };
}
