import type { AttemptView, DeliveryView, ListedDelivery } from '../../contracts/admin/deliveries.ts';
import type { JobDetail } from '../../contracts/admin/jobs.ts';
import { waitReasons } from '../../contracts/delivery-reasons.ts';
import { adviseDelivery } from '../../contracts/receiver-advice.ts';
import { escapeControls } from '../output/format.ts';

/** The fields of a delivery that are shown after a change. */
export const deliveryFields = ['id', 'event', 'status', 'skipped', 'nextAttemptAt', 'keyId'] as const;

/** Returns the status for a list. An attempt that is due but not sent is shown as waiting, not as `pending`. */
export function listedStatus({ status, waiting }: DeliveryView): string {
  return waiting === null ? status : `waiting: ${waiting}`;
}

/** Returns a delivery for a list. `lastStatus` is the status of the last answer, or the error if there was no answer. */
export function listedDelivery({ attempts, ...delivery }: ListedDelivery) {
  const last = attempts.at(-1);
  return {
    ...delivery,
    status: listedStatus({ attempts, ...delivery }),
    attempts: attempts.length,
    lastStatus: last?.status ?? last?.error ?? null,
  };
}

/** Returns a sentence for each reason why deliveries of the list wait. */
export function explainWaits(deliveries: readonly DeliveryView[]): string[] {
  const reasons = new Set(deliveries.flatMap(({ waiting }) => waiting ?? []));
  return [...reasons].map((reason) => `${reason}: ${waitReasons[reason]}.`);
}

const mostListed = 20;

/** Lists up to 20 attempts, each on a line such as `attempt 2 of dlv_… (vae.resolved)`. @param count the number of all attempts */
export function listAttempts(attempts: JobDetail['attempts'], count: number): string {
  const lines = attempts
    .slice(0, mostListed)
    .map(
      ({ attempt, deliveryId, event, mode }) => `  attempt ${attempt} of ${deliveryId} (${event}, ${mode})`,
    );
  const others = count - lines.length;
  if (others > 0) lines.push(`  and ${others} more`);
  return lines.join('\n');
}

/** The columns of a table of delivery attempts. */
export const attemptColumns = [
  'attempt',
  'at',
  'status',
  'error',
  'durationMs',
  'trigger',
  'detail',
] as const;

/** Returns a line for each URL that attempts were sent to, such as `Sent to https://shop.example/hooks: attempt 1, 2`. */
export function renderUrls(attempts: readonly AttemptView[]): string[] {
  const urls = new Set(attempts.flatMap(({ url }) => url ?? []));
  return [...urls].map((sentTo) => {
    const numbers = attempts.filter(({ url }) => url === sentTo).map(({ attempt }) => attempt);
    return `Sent to ${sentTo}: attempt ${numbers.join(', ')}`;
  });
}

/** Returns lines with the receiver's answer to each attempt. An answer that is equal to the one before is not repeated. */
export function renderAnswers(attempts: readonly AttemptView[]): string[] {
  const lines: string[] = [];
  let previousAnswer: string | undefined;
  for (const { attempt, status, location, retryAfter, answer } of attempts) {
    const headers = { Location: location, 'Retry-After': retryAfter };
    const headerLines = Object.entries(headers).flatMap(([name, value]) =>
      value === null ? [] : [`${name}: ${value}`],
    );
    const answerLines = [...headerLines, ...(answer?.split('\n') ?? [])].map(escapeControls);
    const wholeAnswer = [status, ...answerLines].join('\n');
    const title = `Attempt ${attempt} was answered with HTTP ${status ?? ''}`;
    if (answerLines.length > 0 && wholeAnswer === previousAnswer) lines.push(`${title}, as before.`);
    else if (answerLines.length > 0) lines.push(`${title}:`, ...answerLines.map((line) => `  ${line}`));
    previousAnswer = wholeAnswer;
  }
  return lines;
}

/** Returns advice on a delivery that has failed or is about to fail; undefined if the partner need not do anything. */
export function adviseOnDelivery({ id, status, attempts }: DeliveryView): string | undefined {
  const advice = adviseDelivery({ status, attempts });
  if (advice === undefined) return undefined;
  return status === 'failed' ? `${advice}, then: svcadmin deliveries resend ${id}` : `${advice}.`;
}
