import type { AttemptView, DeliveryView } from '../../contracts/admin/deliveries.ts';
import { adviseReceiver } from '../../contracts/receiver-advice.ts';
import { harmless } from '../output/format.ts';

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
