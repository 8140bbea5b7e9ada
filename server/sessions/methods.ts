import type { FailureReason, SourceFailure } from '../../contracts/verification.ts';
import type { Methods, Session } from './session.ts';
import { closedRequests } from './sources/identity-wallet/pending.ts';
import { failed, spentAttempts, type Transition } from './transitions.ts';

/**
 * The most turns of a session. A turn is a choice of a method or a return to the list. Each turn adds to the timeline,
 * so without a limit a script could make a session grow without end.
 */
const mostTurns = 40;

/** The methods of a new session, before the user has chosen one. `names` are its verification sources. */
export const methodsOf = (names: readonly string[]): Methods => ({
  names: [...names],
  turn: 0,
  chosen: false,
  failed: [],
});

/** The methods that a user may still choose. */
export const remaining = ({ names, failed }: Methods): string[] =>
  names.filter((name) => !failed.some(({ source }) => source === name));

/** Whether the user has to choose a method first. */
export const isChoosing = ({ methods }: Pick<Session, 'methods'>): boolean =>
  methods !== undefined && !methods.chosen;

/**
 * The state of the sources that stays when the method changes. It says which authorization requests (`spent`) and
 * requests to identity wallets (`wallet`) were answered before, so that no answer to them counts again.
 */
const stateForNextMethod = (carried: Session['carried']) => ({
  spent: spentAttempts(carried),
  wallet: closedRequests(carried),
});

/** The methods at the next turn. `last` is dropped: a list that is shown later must not mention that failure again. */
const nextTurn = (
  { last: _dropped, turn, ...methods }: Methods,
  { chosen }: Pick<Methods, 'chosen'>,
): Methods => ({ ...methods, turn: turn + 1, chosen });

/** The user chooses a method of the list. */
export function methodChosen({ carried }: Session, methods: Methods, source: string, at: Date): Transition {
  return {
    set: { source, methods: nextTurn(methods, { chosen: true }) },
    carried: stateForNextMethod(carried),
    entry: { at, event: 'method_chosen', note: source },
  };
}

/** The user wants another method. After too many turns, the session fails for the reason of the last failed method. */
export function methodLeft(session: Session, methods: Methods, at: Date): Transition {
  const { turn, failed: failedMethods } = methods;
  if (turn >= mostTurns) return failed(session, failedMethods.at(-1)?.reason ?? 'abandoned', at);
  return {
    set: { methods: nextTurn(methods, { chosen: false }) },
    carried: stateForNextMethod(session.carried),
    entry: { at, event: 'method_left', note: session.source },
  };
}

export interface MethodEnd {
  reason: SourceFailure;
  /** For operators, beside the reason. */
  note?: string;
  /** Whether the user may choose this method again. */
  canRetry: boolean;
}

/**
 * The method has failed before the user has authenticated. If another method is left, the user goes back to the list.
 * Else, or after too many turns, the session fails.
 */
export function methodFailed(session: Session, { reason, note, canRetry }: MethodEnd, at: Date): Transition {
  const { methods, source, carried } = session;
  const noteOfEnd = note === undefined ? reason : `${reason}: ${note}`;
  const last = { source, reason };
  const next: Methods | undefined = methods && {
    ...nextTurn(methods, { chosen: false }),
    failed: canRetry ? methods.failed : [...methods.failed, last],
    last,
  };
  const canContinue = next !== undefined && remaining(next).length > 0 && next.turn <= mostTurns;
  if (!canContinue) {
    const end = failed(session, reason, at);
    return { ...end, entry: { ...end.entry, note: noteOfEnd } };
  }
  return {
    set: { methods: next },
    carried: stateForNextMethod(carried),
    entry: { at, event: 'method_failed', note: `${source}: ${noteOfEnd}` },
  };
}

/** The result of a method: the user has authenticated, the user has left for another method, or it has failed. */
export type MethodOutcome = 'authenticated' | 'left' | FailureReason;

/** Returns the result with which a transition ends the method of a session. Undefined if the method goes on. */
export function methodOutcome(
  session: Session,
  { set, entry, earlier = [] }: Transition,
): MethodOutcome | undefined {
  // One transition can store the authentication together with what follows it, so all its events are read.
  const events = [...earlier, entry].map(({ event }) => event);
  if (events.includes('authenticated') || events.includes('handoff_authenticated')) return 'authenticated';
  if (events.includes('method_left')) return 'left';
  if (events.includes('method_failed')) return set.methods?.last?.reason;
  // A session that fails between the consent and the authentication has failed by its method.
  const isMethodUnderWay = session.consentedAt !== undefined && session.authenticatedAt === undefined;
  return isMethodUnderWay ? set.failure?.reason : undefined;
}
