import type { EnrollmentView } from '../../contracts/admin/enrollments.ts';
import type { CodeState, SessionSummary, SessionView } from '../../contracts/admin/sessions.ts';
import { maxWrongVerifiers } from '../../contracts/grant.ts';
import { reasons } from '../../contracts/reasons.ts';
import type { Enrollment } from './people/enrollment-store.ts';
import type { IssuedCode, Session } from './session/session.ts';
import { reachedStepOf, reasonAt, type Step, stepOf } from './session/steps.ts';

/** The charge of a session. */
export interface Charge {
  id: string;
  at: Date;
}

interface SessionContext {
  charge: Charge | undefined;
  now: number;
}

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

function viewFailure(session: Session, step: Step): SessionView['failure'] {
  const reason = reasonAt(session, step);
  if (!reason) return null;
  const { retryable, text } = reasons[reason];
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

/** Shows a session to operators, without its code and without the partner's `state`. */
export function viewSession(session: Session, context: SessionContext): SessionView {
  const { code, completedAt } = session;
  const step = stepOf(session, context.now);
  return {
    id: session._id,
    partnerId: session.partnerId,
    clientId: session.clientId,
    keyId: session.keyId,
    mode: session.mode,
    source: session.source,
    status: session.status,
    expired: step === 'expired' || step === 'over',
    failure: viewFailure(session, step),
    clientReferenceId: session.clientReferenceId ?? null,
    scopes: session.scope,
    redirectUri: session.redirectUri,
    sub: session.sub ?? null,
    enrollmentId: session.enrollmentId ?? null,
    returning: session.returning ?? null,
    code: code ? viewCode(code, context) : null,
    timeline: viewTimeline(session, step),
    createdAt: session.createdAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
  };
}

/**
 * A session as lists show it.
 * @param context `now` in milliseconds
 */
export function viewSessionSummary(
  session: Session,
  context: { isUsed: boolean; now: number },
): SessionSummary {
  const { _id: id, partnerId, clientId, keyId, mode, source, status, completedAt } = session;
  const step = stepOf(session, context.now);
  return {
    id,
    partnerId,
    clientId,
    keyId,
    mode,
    source,
    status,
    expired: step === 'expired' || step === 'over',
    reason: reasonAt(session, step) ?? null,
    step: reachedStepOf(session),
    code: session.code ? stateOfCode(session.code, context) : null,
    returning: session.returning ?? null,
    clientReferenceId: session.clientReferenceId ?? null,
    sub: session.sub ?? null,
    enrollmentId: session.enrollmentId ?? null,
    createdAt: session.createdAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
  };
}

export function viewEnrollment(enrollment: Enrollment): EnrollmentView {
  const { _id, partnerId, clientId, mode, sub, status, blockReason, consentedClaims, firstSession } =
    enrollment;
  return {
    id: _id,
    partnerId,
    clientId,
    mode,
    sub,
    status,
    blockReason: blockReason ?? null,
    consentedClaims,
    withdrawnAt: enrollment.withdrawnAt?.toISOString() ?? null,
    firstSession,
    createdAt: enrollment.createdAt.toISOString(),
  };
}
