import { answersOf, type EndedAttempt, isSuccess } from './endpoint-health.ts';

const hour = 3_600_000;
/** With fewer attempts, their share of successes says nothing. */
const fewestAttempts = 4;
const mostAnswers = 3;

/** Why an endpoint is failing. */
export interface HourFault {
  /** Since when nothing was delivered; undefined if some attempts succeeded. */
  since: Date | undefined;
  /** The responses of the last hour, the most frequent first. */
  answers: string[];
}

/** The most frequent answers of the failed attempts, each with its number: `500 (3)`. */
function failedAnswersOf(attempts: readonly EndedAttempt[]): string[] {
  const failed = attempts.filter((attempt) => !isSuccess(attempt));
  return answersOf(failed, mostAnswers).map(({ answer, count }) => `${answer} (${count})`);
}

/**
 * Why an endpoint is failing; undefined if it is not. It fails if nothing was delivered for an hour, or less than half of
 * the attempts of the last hour.
 * @param attempts in order of time
 * @param now milliseconds since the epoch
 */
export function evaluateHour(attempts: readonly EndedAttempt[], now: number): HourFault | undefined {
  const failuresSinceSuccess = attempts.slice(attempts.findLastIndex(isSuccess) + 1);
  const lastHour = attempts.filter(({ at }) => now - at.getTime() < hour);
  // Without attempts in the last hour, older failures show how the endpoint fails.
  const answers = failedAnswersOf(lastHour.length > 0 ? lastHour : failuresSinceSuccess);
  const failingSince = failuresSinceSuccess[0]?.at;
  if (failingSince && now - failingSince.getTime() >= hour) return { since: failingSince, answers };
  const delivered = lastHour.filter(isSuccess).length;
  const deliversTooFew = lastHour.length >= fewestAttempts && delivered / lastHour.length < 0.5;
  return deliversTooFew ? { since: undefined, answers } : undefined;
}
