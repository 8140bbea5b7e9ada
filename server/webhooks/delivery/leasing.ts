import { randomBytes } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { createStage } from '../../platform/group-commit.ts';
import type { Room } from './concurrency-limits.ts';
import type { Leased } from './delivery.ts';
import type { DeliveryStore, Ending } from './delivery-store.ts';
import type { Grant } from './dispatcher.ts';
import { createCandidates } from './due-cache.ts';

interface Settings {
  deliveries: Pick<DeliveryStore, 'due' | 'lease' | 'record'>;
  clock: Pick<Clock, 'now'>;
  /** Milliseconds until another process may take over. */
  leaseTime: number;
}

/** Leases and records attempts, those of all endpoints together: one write at a time for however many. */
export function createLeasing({ deliveries, clock, leaseTime }: Settings) {
  const now = () => new Date(clock.now());
  const candidates = createCandidates((keyId, lane, limit) =>
    deliveries.due(keyId, lane, { now: now(), limit }),
  );

  const leaseAll = createStage<readonly string[], Leased[]>({
    run: async (wanted) => {
      const at = now();
      const lease = {
        token: randomBytes(16).toString('base64url'),
        now: at,
        until: new Date(at.getTime() + leaseTime),
      };
      const leased = await deliveries.lease(wanted.flat(), lease);
      const byId = new Map(leased.map((delivery) => [delivery._id, delivery]));
      return wanted.map((ids) => ids.flatMap((id) => byId.get(id) ?? []));
    },
  });
  const record = createStage<Ending, undefined>({
    run: async (endings) => {
      await deliveries.record(endings);
      return endings.map(() => undefined);
    },
  });

  return {
    offer: candidates.offer,
    doubt: candidates.doubt,

    /** Leases what is due for an endpoint, as much as it has room for. */
    async lease(room: Room): Promise<Grant> {
      const { ids, more } = await candidates.take(room);
      try {
        return { leased: ids.length === 0 ? [] : await leaseAll(ids), more };
      } catch (error) {
        candidates.doubt(room.keyId);
        throw error;
      }
    },
    record,
  };
}
