import type { Device } from '../../../../contracts/verification.ts';
import type { IdentityWalletResponse, PresentationRefused, Proof } from '../../../identity-wallet/port.ts';
import { sha256 } from '../../../platform/ids.ts';
import { type MethodEnd, methodFailed } from '../../session/methods.ts';
import type { Session } from '../../session/session.ts';
import type { Transition } from '../../session/transitions.ts';
import type { Pending, ReturnCode } from './pending.ts';

/** The outcome of an identity wallet's response: proven claims, an error of the wallet, or a refused presentation. */
export type Outcome =
  | ({ kind: 'proven' } & Proof)
  | Extract<IdentityWalletResponse, { kind: 'error' }>
  | { kind: 'refused'; refusal: PresentationRefused };

/** The most responses that one session accepts. */
const mostAnswers = 10;

/** How an error of the wallet ends the session's method. Undefined if the user tries again on the same page. */
function endByError(error: string, { methods }: Session, answers: number): MethodEnd | undefined {
  if (answers >= mostAnswers) {
    return { reason: 'abandoned', note: `${mostAnswers} answers without a proof`, canRetry: false };
  }
  // There is no other method to choose.
  if (!methods) return undefined;
  const reason = error === 'access_denied' ? 'abandoned' : 'source_error';
  return { reason, note: `wallet: ${error}`, canRetry: true };
}

/**
 * Returns the transition that stores the outcome of a response, and closes its request.
 * @param answered number and device of the answered request, and the code with which its browser will return
 */
export function outcomeTransition(
  session: Session,
  outcome: Outcome,
  { number, device, code, at }: { number: number; device: Device; code: string; at: Date },
): Transition {
  // So many requests are answered now, and the next one has this number.
  const answers = number + 1;
  const returnCode: ReturnCode = { device, codeHash: sha256(code) };
  const endMethod = (end: MethodEnd): Transition => {
    const ended = methodFailed(session, end, at);
    // The session has failed, so no request follows.
    if (!ended.set.methods) return ended;
    // A browser that still returns with its code is shown the list of methods.
    return { ...ended, carried: { ...ended.carried, wallet: { number: answers, declined: returnCode } } };
  };
  const returned = (note: string, result: Omit<Pending, 'number'>): Transition => ({
    set: {},
    carried: { ...session.carried, wallet: { number: answers, ...result } },
    entry: { at, event: 'returned', note: `${session.source}, wallet: ${note}` },
  });
  switch (outcome.kind) {
    case 'proven': {
      const { claims, subject } = outcome;
      const presented = { ...returnCode, claims, ...(subject ? { subject } : {}) };
      return returned('presented', { notice: 'answered', presented });
    }
    case 'refused': {
      const { reason, message } = outcome.refusal;
      return endMethod({ reason, note: message, canRetry: false });
    }
    case 'error': {
      const end = endByError(outcome.error, session, answers);
      if (end) return endMethod(end);
      const notice = outcome.error === 'access_denied' ? 'declined' : 'trouble';
      return returned(outcome.error, { notice, declined: returnCode });
    }
  }
}
