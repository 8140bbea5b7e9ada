import { EnrollmentView } from '../../contracts/admin/enrollments.ts';
import { type CodeState, SessionSummary, type SessionView } from '../../contracts/admin/sessions.ts';
import { maxWrongVerifiers } from '../../contracts/grant.ts';
import { reasons } from '../../contracts/reasons.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import type { IssuedCode, Session } from '../sessions/session.ts';
import { reachedStepOf, reasonAt, type Step, stepOf } from '../sessions/steps.ts';
import type { Enrollment } from './enrollments/enrollment-store.ts';

/** The charge of a session. */
export interface Charge {
  id: string;
  at: Date;
}

/** What the view of a session depends on besides the session. `now` is in ms since 1970. */
interface SessionContext {
  charge: Charge | undefined;
  now: number;
}

/** The state of a code at `now`, in ms since 1970. A code that was used stays so, also after its expiry. */
function stateOfCode(code: IssuedCode, { isUsed, now }: { isUsed: boolean; now: number }): CodeState {
  if (isUsed) return 'used';
  if (code.wrongVerifiers >= maxWrongVerifiers) return 'locked';
  return now >= code.expiresAt.getTime() ? 'expired' : 'unused';
}

function viewCode(code: IssuedCode, context: SessionContext): SessionView['code'] {
  const { charge, now } = context;
  return {
    state: stateOfCode(code, { isUsed: charge !== undefined, now }),
    issuedAt: code.issuedAt.toISOString(),
    expiresAt: code.expiresAt.toISOString(),
    wrongVerifiers: code.wrongVerifiers,
    charge: charge ? { id: charge.id, at: charge.at.toISOString() } : null,
  };
}

/** Why a session will not get a code; null while it can still get one. */
function viewFailure(session: Session, step: Step): SessionView['failure'] {
  const reason = reasonAt(session, step);
  if (!reason) return null;
  const { retryable, text } = reasons[reason];
  // A session that only expired has no stored failure.
  return { reason, retryable, text, at: (session.failure?.at ?? session.expiresAt).toISOString() };
}

/** The events in order, with the expiry, which is not stored. */
function viewTimeline({ timeline, expiresAt }: Session, step: Step): SessionView['timeline'] {
  const expiry = { at: expiresAt, event: 'expired', note: 'session_expired' };
  return [...timeline, ...(step === 'expired' ? [expiry] : [])].map(({ at, event, note }) => ({
    at: at.toISOString(),
    event,
    note: note ?? null,
  }));
}

const CommonFields = SessionSummary.omit({ reason: true, step: true, code: true });

/** The fields that the list and the full view of a session share. */
const viewCommonFields = (session: Session, step: Step) =>
  viewAs(CommonFields, {
    ...session,
    id: session._id,
    // A session that is `over` has failed, and has expired since.
    expired: step === 'expired' || step === 'over',
  });

/** Shows a session to operators, without the text of its code and without the partner's `state`. */
export function viewSession(session: Session, context: SessionContext): SessionView {
  const step = stepOf(session, context.now);
  return {
    ...viewCommonFields(session, step),
    failure: viewFailure(session, step),
    scopes: session.scope,
    redirectUri: session.redirectUri,
    code: session.code ? viewCode(session.code, context) : null,
    timeline: viewTimeline(session, step),
  };
}

/**
 * A session as lists show it.
 * @param context `isUsed`: whether its code was exchanged; `now` in milliseconds
 */
export function viewSessionSummary(
  session: Session,
  context: { isUsed: boolean; now: number },
): SessionSummary {
  const step = stepOf(session, context.now);
  return {
    ...viewCommonFields(session, step),
    reason: reasonAt(session, step) ?? null,
    step: reachedStepOf(session),
    code: session.code ? stateOfCode(session.code, context) : null,
  };
}

export const viewEnrollment = (enrollment: Enrollment): EnrollmentView =>
  viewAs(EnrollmentView, { ...enrollment, id: enrollment._id });
