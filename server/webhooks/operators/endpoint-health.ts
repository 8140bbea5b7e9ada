import type { EndpointHealth, EndpointState } from '../../../contracts/admin/endpoint-health.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Limits } from '../delivery/concurrency-limits.ts';

/** An attempt that has ended. */
export interface EndedAttempt {
  at: Date;
  status?: number;
  error?: string;
  durationMs?: number;
}

/** The facts from which an endpoint's health is derived. */
export interface EndpointFacts {
  keyId: string;
  partnerId: string;
  mode: Mode;
  /** The attempts in order of time. */
  attempts: readonly EndedAttempt[];
  queued: number;
  inFlight: number;
  /** Attempts under way in all processes, to all endpoints. */
  allInFlight: number;
  pausedUntil: Date | undefined;
}

/** An endpoint counts as dead after this many milliseconds without a success. */
export const deadAfterMs = 15 * 60_000;
const fewestFailures = 3;
const mostAnswers = 5;

const answerOf = ({ status, error }: EndedAttempt): string =>
  status === undefined ? (error ?? 'none') : String(status);

function answersOf(attempts: readonly EndedAttempt[]): EndpointHealth['answers'] {
  const found = new Map<string, EndpointHealth['answers'][number]>();
  for (const attempt of attempts) {
    const answer = answerOf(attempt);
    const at = attempt.at.toISOString();
    const before = found.get(answer) ?? { answer, count: 0, firstAt: at, lastAt: at };
    found.set(answer, { ...before, count: before.count + 1, lastAt: at });
  }
  return [...found.values()].toSorted((one, other) => other.count - one.count).slice(0, mostAnswers);
}

function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** Returns why due deliveries of an endpoint wait; null if none is due. */
function causeOf(
  { queued, inFlight, allInFlight, pausedUntil }: EndpointFacts,
  limits: Limits,
): string | null {
  if (pausedUntil) return `paused until ${pausedUntil.toISOString()}`;
  if (queued === 0) return null;
  const { perEndpoint, pool } = limits;
  if (inFlight >= Math.max(1, perEndpoint - 1))
    return `behind ${queued} of this endpoint, ${perEndpoint} at a time`;
  if (allInFlight >= pool) return `the process has ${pool} attempts of all endpoints under way`;
  return 'about to be sent; if it stays, no process with the worker role has taken it up';
}

function stateOf(facts: EndpointFacts, failures: readonly EndedAttempt[], now: number): EndpointState {
  if (facts.pausedUntil) return 'paused';
  if (facts.attempts.length === 0) return 'idle';
  const [first] = failures;
  if (!first) return 'ok';
  const isDead = failures.length >= fewestFailures && now - first.at.getTime() >= deadAfterMs;
  return isDead ? 'dead' : 'failing';
}

/** Derives the health of an endpoint. @param now milliseconds since 1970 */
export function evaluateEndpoint(
  facts: EndpointFacts,
  { limits, now }: { limits: Limits; now: number },
): EndpointHealth {
  const { keyId, partnerId, mode, attempts, queued, inFlight, pausedUntil } = facts;
  const succeeded = attempts.filter(({ error }) => error === undefined);
  const lastSuccess = succeeded.at(-1);
  const failures = lastSuccess ? attempts.slice(attempts.lastIndexOf(lastSuccess) + 1) : attempts;
  const durations = attempts.flatMap(({ durationMs }) => durationMs ?? []).toSorted((one, two) => one - two);
  return {
    keyId,
    partnerId,
    mode,
    state: stateOf(facts, failures, now),
    attempts: attempts.length,
    since: attempts[0]?.at.toISOString() ?? null,
    successShare: attempts.length > 0 ? succeeded.length / attempts.length : null,
    lastSuccessAt: lastSuccess?.at.toISOString() ?? null,
    failingSince: failures[0]?.at.toISOString() ?? null,
    p50Ms: quantile(durations, 0.5),
    p95Ms: quantile(durations, 0.95),
    answers: answersOf(attempts),
    queued,
    inFlight,
    cause: causeOf(facts, limits),
    pausedUntil: pausedUntil?.toISOString() ?? null,
  };
}

const order: readonly EndpointState[] = ['dead', 'failing', 'paused', 'ok', 'idle'];

/** Sorts endpoints: dead and failing ones first, then live before test, then by state, then the longest failing first. */
export function worstFirst(one: EndpointHealth, other: EndpointHealth): number {
  const isWell = ({ state }: EndpointHealth) => state !== 'dead' && state !== 'failing';
  const byTrouble = Number(isWell(one)) - Number(isWell(other));
  const byState = order.indexOf(one.state) - order.indexOf(other.state);
  const byMode = Number(one.mode === 'test') - Number(other.mode === 'test');
  const since = ({ failingSince }: EndpointHealth) => failingSince ?? '9';
  return byTrouble || byMode || byState || (since(one) < since(other) ? -1 : 1);
}
