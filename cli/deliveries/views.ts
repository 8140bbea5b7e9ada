import type { DeliveryView, ListedDelivery } from '../../contracts/admin/deliveries.ts';
import type { JobDetail } from '../../contracts/admin/jobs.ts';
import { waitReasons } from '../../contracts/wait-reasons.ts';

/** What a change of a delivery shows of it. */
export const deliveryFields = ['id', 'event', 'status', 'skipped', 'nextAttemptAt', 'keyId'] as const;

/** The status as a list shows it: an attempt that is due and not sent is no ordinary `pending`. */
export function listedStatus({ status, waiting }: DeliveryView): string {
  return waiting === null ? status : `waiting: ${waiting}`;
}

/** A delivery as a list shows it. `lastStatus`: of the last answer, or the error where there was none. */
export function listedDelivery({ attempts, ...delivery }: ListedDelivery) {
  const last = attempts.at(-1);
  return {
    ...delivery,
    status: listedStatus({ attempts, ...delivery }),
    attempts: attempts.length,
    lastStatus: last?.status ?? last?.error ?? null,
  };
}

/** One sentence for each reason why a delivery of the list waits. */
export function explainWaiting(deliveries: readonly DeliveryView[]): string[] {
  const reasons = new Set(deliveries.flatMap(({ waiting }) => waiting ?? []));
  return [...reasons].map((reason) => `${reason}: ${waitReasons[reason]}.`);
}

const mostNamed = 20;

/** `attempt 2 of dlv_… (vae.resolved)` for each, line by line, at most 20; `count` is how many there are. */
export function nameAttempts(attempts: JobDetail['attempts'], count: number): string {
  const named = attempts
    .slice(0, mostNamed)
    .map(
      ({ attempt, deliveryId, event, mode }) => `  attempt ${attempt} of ${deliveryId} (${event}, ${mode})`,
    );
  const others = count - named.length;
  return [...named, ...(others > 0 ? [`  and ${others} more`] : [])].join('\n');
}
