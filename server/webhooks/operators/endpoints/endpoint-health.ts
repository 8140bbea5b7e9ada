import { EndpointHealth, type EndpointState } from '../../../../contracts/admin/endpoint-health.ts';
import { skipReasons, waitReasons } from '../../../../contracts/delivery-reasons.ts';
import { viewAs } from '../../../platform/admin-api/view.ts';
import { type Limits, retryLimits } from '../../delivery/backlog.ts';
import type { Attempt, Overdue } from '../../delivery/delivery.ts';
import { slowFromMs } from '../../delivery/delivery-store.ts';
import type { OffReason } from '../../delivery/endpoint.ts';
import type { KeyOwner } from './key-owner.ts';

export type EndedAttempt = Pick<
  Attempt,
  'at' | 'status' | 'error' | 'durationMs' | 'detail' | 'clockAheadMinutes'
>;

/** The facts from which an endpoint's health is derived. */
export interface EndpointFacts extends KeyOwner {
  /** The attempts in order of time. */
  attempts: readonly EndedAttempt[];
  queued: number;
  /** The oldest due attempt that a process could not make; undefined if there is none. */
  heldBack: Overdue | undefined;
  inFlight: number;
  /** Attempts under way in all processes, to all endpoints. */
  allInFlight: number;
  /** Whether a process that sends is running. */
  isWorked: boolean;
  pausedUntil: Date | undefined;
  /** Why nothing is sent to the key now; undefined if events are sent. */
  off: OffReason | undefined;
}

/** An endpoint counts as dead after this many milliseconds without a success. */
export const deadAfterMs = 15 * 60_000;
/** With fewer failures, an endpoint does not count as dead, however long ago the first one was. */
const fewestFailures = 3;
const mostAnswers = 5;
const LastFault = EndpointHealth.shape.lastFault.unwrap();

/** What came back from an attempt: the HTTP status, or else the class of the error. An ended attempt has one of the two. */
const answerOf = ({ status, error }: EndedAttempt): string =>
  status === undefined ? (error ?? 'none') : String(status);

/** Whether the receiver has acknowledged an attempt. */
export const isSuccess = ({ status }: EndedAttempt): boolean =>
  status !== undefined && status >= 200 && status < 300;

/** The most frequent answers, each with its number and the times of the first and the last one. */
export function answersOf(attempts: readonly EndedAttempt[], most = mostAnswers): EndpointHealth['answers'] {
  const rows = new Map<string, EndpointHealth['answers'][number]>();
  for (const attempt of attempts) {
    const answer = answerOf(attempt);
    const at = attempt.at.toISOString();
    const row = rows.get(answer) ?? { answer, count: 0, firstAt: at, lastAt: at };
    rows.set(answer, { ...row, count: row.count + 1, lastAt: at });
  }
  return [...rows.values()].toSorted((one, other) => other.count - one.count).slice(0, most);
}

/** Returns a quantile: the smallest value that is not below the given share of all values. Null without values. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}

const durationsOf = (attempts: readonly EndedAttempt[]): number[] =>
  attempts.flatMap(({ durationMs }) => durationMs ?? []).toSorted((one, two) => one - two);

/** Returns why due deliveries of an endpoint wait; null if none is due. A pause, and a key that gets nothing, are reported also if none is due. */
function causeOf(
  { queued, heldBack, inFlight, allInFlight, isWorked, pausedUntil, off }: EndpointFacts,
  limits: Limits,
): string | null {
  if (off) return `nothing is sent: ${skipReasons[off]}`;
  if (pausedUntil) return `paused until ${pausedUntil.toISOString()}`;
  if (queued > 0 && !isWorked) return waitReasons.no_worker;
  if (heldBack?.reason) return `since ${heldBack.since.toISOString()}: ${waitReasons[heldBack.reason]}`;
  if (queued === 0) return null;
  const { perEndpoint, pool } = limits;
  // One slot is kept for first attempts, so retries wait as soon as all others are in use.
  if (inFlight >= retryLimits(limits).perEndpoint)
    return `behind ${queued} of this endpoint, ${perEndpoint} at a time`;
  if (allInFlight >= pool) return `the process has ${pool} attempts of all endpoints under way`;
  return 'about to be sent; if it stays, no process with the worker role has taken it up';
}

/** The state of an endpoint. @param failures the attempts since the last success, in order of time */
function stateOf(
  { pausedUntil, heldBack, attempts }: EndpointFacts,
  failures: readonly EndedAttempt[],
  now: number,
): EndpointState {
  if (pausedUntil) return 'paused';
  if (heldBack?.reason) return 'held';
  if (attempts.length === 0) return 'idle';
  const [firstFailure] = failures;
  if (!firstFailure) {
    // Without the attempts that failed, so that an endpoint that timed out is `ok` as soon as it answers fast again.
    const p95 = quantile(durationsOf(attempts.filter(isSuccess)), 0.95);
    return p95 !== null && p95 >= slowFromMs ? 'slow' : 'ok';
  }
  const failingMs = now - firstFailure.at.getTime();
  return failures.length >= fewestFailures && failingMs >= deadAfterMs ? 'dead' : 'failing';
}

function viewFault(attempt: EndedAttempt | undefined): EndpointHealth['lastFault'] {
  // A failed attempt always has an error, so the default is for the type only.
  return attempt ? viewAs(LastFault, { error: 'http' as const, ...attempt }) : null;
}

/** Derives the health of an endpoint. @param now milliseconds since 1970 */
export function evaluateEndpoint(
  facts: EndpointFacts,
  { limits, now }: { limits: Limits; now: number },
): EndpointHealth {
  const { attempts } = facts;
  const lastSuccessIndex = attempts.findLastIndex(isSuccess);
  const failures = attempts.slice(lastSuccessIndex + 1);
  const durations = durationsOf(attempts);
  return viewAs(EndpointHealth, {
    ...facts,
    state: stateOf(facts, failures, now),
    attempts: attempts.length,
    since: attempts[0]?.at,
    successShare: attempts.length > 0 ? attempts.filter(isSuccess).length / attempts.length : null,
    lastSuccessAt: attempts[lastSuccessIndex]?.at,
    failingSince: failures[0]?.at,
    p50Ms: quantile(durations, 0.5),
    p95Ms: quantile(durations, 0.95),
    answers: answersOf(attempts),
    lastFault: viewFault(failures.at(-1)),
    cause: causeOf(facts, limits),
  });
}

const worstStateFirst: readonly EndpointState[] = ['dead', 'failing', 'held', 'paused', 'slow', 'ok', 'idle'];

/** Sorts endpoints: dead and failing ones first, then live before test, then by state, then the longest failing first. */
export function worstFirst(one: EndpointHealth, other: EndpointHealth): number {
  const isWell = ({ state }: EndpointHealth) => state !== 'dead' && state !== 'failing' && state !== 'held';
  const byTrouble = Number(isWell(one)) - Number(isWell(other));
  const byMode = Number(one.mode === 'test') - Number(other.mode === 'test');
  const byState = worstStateFirst.indexOf(one.state) - worstStateFirst.indexOf(other.state);
  // Endpoints that do not fail have no time, so they get one that sorts last.
  const since = ({ failingSince }: EndpointHealth) => failingSince ?? '9999';
  return byTrouble || byMode || byState || (since(one) < since(other) ? -1 : 1);
}
