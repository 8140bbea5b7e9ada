import type { Device } from '../../../../contracts/verification.ts';
import type { IdentityWalletResponse, PresentationRefused, Proof } from '../../../identity-wallet/port.ts';
import { givenFields } from '../../../platform/database/reads/look-through.ts';
import { sha256 } from '../../../platform/ids.ts';
import { type MethodEnd, methodFailed } from '../../methods.ts';
import type { Session } from '../../session.ts';
import type { Transition } from '../../transitions.ts';
import type { Pending, ReturnCode } from './pending.ts';

/** The outcome of an identity wallet's response: proven claims, an error of the wallet, or a refused presentation. */
export type Outcome =
  | ({ kind: 'proven' } & Proof)
  | Extract<IdentityWalletResponse, { kind: 'error' }>
  | { kind: 'refused'; refusal: PresentationRefused };

/** The most responses that one session accepts. */
const mostAnswers = 10;

/**
 * How an error of the identity wallet ends the session's method. Undefined if the user can try again on the same page.
 * @param answered how many requests of the session were answered, this one included
 */
function endByError(error: string, { methods }: Session, answered: number): MethodEnd | undefined {
  if (answered >= mostAnswers) {
    return { reason: 'abandoned', note: `${mostAnswers} answers without a proof`, canRetry: false };
  }
  // Without a list to go back to, the user stays on the page.
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
  // Requests are numbered from 0. So this is how many are answered now, and the number of the next one.
  const answered = number + 1;
  const returnCode: ReturnCode = { device, codeHash: sha256(code) };
  /** The method has failed: the user goes back to the list, or the session fails. */
  const endMethod = (end: MethodEnd): Transition => {
    const ended = methodFailed(session, end, at);
    const hasSessionFailed = ended.set.methods === undefined;
    if (hasSessionFailed) return ended;
    // The browser will return with its code. The code is kept, so that the browser is shown the list, and no error.
    return { ...ended, carried: { ...ended.carried, wallet: { number: answered, declined: returnCode } } };
  };
  /** The session stays with this method. `result` is stored with the number of answered requests until the browser returns. */
  const returned = (note: string, result: Omit<Pending, 'number'>): Transition => ({
    set: {},
    carried: { ...session.carried, wallet: { number: answered, ...result } },
    entry: { at, event: 'returned', note: `${session.source}, wallet: ${note}` },
  });
  switch (outcome.kind) {
    case 'proven': {
      const { claims, subject } = outcome;
      const presented = { ...returnCode, claims, ...givenFields({ subject }) };
      return returned('presented', { notice: 'answered', presented });
    }
    case 'refused': {
      const { reason, message } = outcome.refusal;
      return endMethod({ reason, note: message, canRetry: false });
    }
    case 'error': {
      const end = endByError(outcome.error, session, answered);
      if (end) return endMethod(end);
      const notice = outcome.error === 'access_denied' ? 'declined' : 'trouble';
      return returned(outcome.error, { notice, declined: returnCode });
    }
  }
}
