import type { FailureReason, SourceFailure } from '../../../contracts/verification.ts';
import { closedRequests } from '../sources/identity-wallet/pending.ts';
import type { Methods, Session } from './session.ts';
import { failed, spentAttempts, type Transition } from './transitions.ts';

/** The most turns (choices and returns to the list), so that a script cannot make a session grow without end. */
const mostTurns = 40;

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

/** The state that is kept when the method changes: it prevents that earlier requests are used again. */
const stateBetween = (carried: Session['carried']) => ({
  spent: spentAttempts(carried),
  wallet: closedRequests(carried),
});

/** The user chooses a method of the list. */
export function methodChosen({ carried }: Session, methods: Methods, source: string, at: Date): Transition {
  const { last: _last, turn, ...rest } = methods;
  return {
    set: { source, methods: { ...rest, turn: turn + 1, chosen: true } },
    carried: stateBetween(carried),
    entry: { at, event: 'method_chosen', note: source },
  };
}

/** The user wants another method. After too many turns, the session fails for the reason of the last failed method. */
export function methodLeft(session: Session, methods: Methods, at: Date): Transition {
  const { last: _last, turn, ...rest } = methods;
  if (turn >= mostTurns) return failed(session, methods.failed.at(-1)?.reason ?? 'abandoned', at);
  return {
    set: { methods: { ...rest, turn: turn + 1, chosen: false } },
    carried: stateBetween(session.carried),
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
 * The method has failed before the user has authenticated. The user goes back to the list if another method is left;
 * else the session fails. It also fails after too many turns.
 */
export function methodFailed(session: Session, { reason, note, canRetry }: MethodEnd, at: Date): Transition {
  const { methods, source, carried } = session;
  const text = note === undefined ? reason : `${reason}: ${note}`;
  const last = { source, reason };
  const next = methods && {
    ...methods,
    turn: methods.turn + 1,
    chosen: false,
    failed: canRetry ? methods.failed : [...methods.failed, last],
    last,
  };
  if (!next || remaining(next).length === 0 || next.turn > mostTurns) {
    const end = failed(session, reason, at);
    return { ...end, entry: { ...end.entry, note: text } };
  }
  return {
    set: { methods: next },
    carried: stateBetween(carried),
    entry: { at, event: 'method_failed', note: `${source}: ${text}` },
  };
}

/** The result of a method: the user has authenticated, the user has left for another method, or it has failed. */
export type MethodOutcome = 'authenticated' | 'left' | FailureReason;

/** Returns the outcome with which a transition ends the method of a session. Undefined if the method goes on. */
export function methodOutcome(
  session: Session,
  { set, entry, earlier = [] }: Transition,
): MethodOutcome | undefined {
  const { event } = entry;
  const events = [...earlier, entry].map((one) => one.event);
  if (events.includes('authenticated') || events.includes('handoff_authenticated')) return 'authenticated';
  if (event === 'method_left') return 'left';
  if (event === 'method_failed') return set.methods?.last?.reason;
  // A session that fails between the consent and the authentication has failed by its method.
  const isMethodUnderWay = session.consentedAt !== undefined && session.authenticatedAt === undefined;
  return event === 'failed' && isMethodUnderWay ? set.failure?.reason : undefined;
}
