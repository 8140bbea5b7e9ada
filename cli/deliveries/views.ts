import type { AttemptView, DeliveryView, ListedDelivery } from '../../contracts/admin/deliveries.ts';
import type { JobDetail } from '../../contracts/admin/jobs.ts';
import { adviseReceiver } from '../../contracts/receiver-advice.ts';
import { waitReasons } from '../../contracts/wait-reasons.ts';
import { harmless } from '../output/format.ts';

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

/** Columns of a table of delivery attempts. */
export const attemptColumns = [
  'attempt',
  'at',
  'status',
  'error',
  'durationMs',
  'trigger',
  'detail',
] as const;

/** What receivers answered, attempt by attempt; what is the same as before is not repeated. */
export function answerLines(attempts: readonly AttemptView[]): string[] {
  const texts = attempts.map(({ status, location, retryAfter, answer }) => [
    ...(location === null ? [] : [`Location: ${harmless(location)}`]),
    ...(retryAfter === null ? [] : [`Retry-After: ${harmless(retryAfter)}`]),
    ...(answer === null ? [] : answer.split('\n').map(harmless)),
    ...(status === null ? [] : [`HTTP ${status}`]),
  ]);
  return attempts.flatMap(({ attempt, status }, at) => {
    const lines = (texts[at] ?? []).slice(0, -1);
    const isSame = at > 0 && texts[at]?.join('\n') === texts[at - 1]?.join('\n');
    if (lines.length === 0) return [];
    const title = `Attempt ${attempt} was answered with HTTP ${status ?? ''}`;
    return isSame ? [`${title}, as before.`] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  });
}

/** What to do about a delivery that has failed or is about to; undefined where nothing is to be done. */
export function adviseOn({ id, status, attempts }: DeliveryView): string | undefined {
  const last = attempts.findLast(({ error }) => error !== null);
  if (!last?.error || status === 'delivered' || status === 'skipped') return undefined;
  const advice = adviseReceiver({ ...last, error: last.error });
  if (status !== 'failed') return `${advice}.`;
  return `${advice}, then: svcadmin deliveries resend ${id}`;
}
