import type { WaitReason } from '../../../../contracts/webhooks.ts';
import type { OperatorsContext } from '../../context.ts';
import { type Limits, retryLimits } from '../../delivery/backlog.ts';
import {
  type Delivery,
  firstDueOf,
  type InFlight,
  noneInFlight,
  sumInFlight,
} from '../../delivery/delivery.ts';
import { lateAfterMs } from '../views.ts';

/**
 * Returns a function that tells why deliveries wait, by their ids. It compares the attempts in flight in all processes with the
 * limits. A delivery that is not due, or only just due, has no reason.
 */
export function createWaiting({ deliveryQueries, clock, pauses, hasWorker, limits }: OperatorsContext) {
  const forRetries = retryLimits(limits);

  /** Which limit keeps a delivery waiting. A retry also waits for the lower limits of retries. */
  function reachedLimit({ lane }: Delivery, ofEndpoint: InFlight, ofAll: InFlight): WaitReason | undefined {
    const isReached = (limit: keyof Limits, { first, retry }: InFlight): boolean =>
      first + retry >= limits[limit] || (lane === 'retry' && retry >= forRetries[limit]);
    if (isReached('perEndpoint', ofEndpoint)) return 'endpoint_busy';
    if (isReached('pool', ofAll)) return 'server_busy';
    return undefined;
  }

  return async (deliveries: readonly Delivery[]): Promise<Map<string, WaitReason>> => {
    const now = clock.now();
    // Only a pending delivery has a due time.
    const overdueMs = (delivery: Delivery) => now - (firstDueOf(delivery)?.getTime() ?? now);
    const due = deliveries.filter((delivery) => overdueMs(delivery) > 0);
    const reasons = new Map<string, WaitReason>();
    if (due.length === 0) return reasons;
    const keyIds = [...new Set(due.map(({ keyId }) => keyId))];
    const [counts, paused, isWorked] = await Promise.all([
      deliveryQueries.inFlight(),
      pauses(keyIds),
      hasWorker(),
    ]);
    const all = sumInFlight(counts.values());
    const reasonOf = (delivery: Delivery): WaitReason | undefined => {
      if (paused.has(delivery.keyId)) return 'paused';
      const isLate = overdueMs(delivery) > lateAfterMs;
      if (isLate && !isWorked) return 'no_worker';
      if (delivery.overdue?.reason) return delivery.overdue.reason;
      const busy = reachedLimit(delivery, counts.get(delivery.keyId) ?? noneInFlight, all);
      return busy ?? (isLate ? 'not_taken_up' : undefined);
    };
    for (const delivery of due) {
      const reason = reasonOf(delivery);
      if (reason) reasons.set(delivery._id, reason);
    }
    return reasons;
  };
}
