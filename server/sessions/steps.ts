import type { SessionStep } from '../../contracts/admin/sessions.ts';
import { type ClaimName, isClaimName } from '../../contracts/claims.ts';
import type { Reason } from '../../contracts/reasons.ts';
import type { Session } from './session.ts';

/** The present step of a session, which decides the next page. */
export type Step =
  | SessionStep
  | 'failed'
  | 'expired'
  /** Failed, and expired as well. */
  | 'over';

const live = ['consent', 'authenticate', 'confirm', 'verify', 'issue'] as const satisfies readonly Step[];
/** A step of a session that can still issue a code. */
export type LiveStep = (typeof live)[number];

/** Whether a session at this step can still issue a code. */
export const isLive = (step: Step): step is LiveStep => (live as readonly Step[]).includes(step);

/** The step that a session has reached, even if it has failed or expired since. */
export function reachedStepOf(session: Session): SessionStep {
  if (session.status === 'complete') return 'completed';
  if (session.status === 'verified') return 'issue';
  if (session.status === 'authenticated') return 'verify';
  if (!session.consentedAt) return 'consent';
  return session.userId ? 'confirm' : 'authenticate';
}

/**
 * The present step. A complete session stays `completed`, also after its expiry. A failed session that has expired is
 * `over`: it is no longer redirected to the partner, as it was while it was only `failed`.
 */
export function stepOf(session: Session, now: number): Step {
  if (session.status === 'complete') return 'completed';
  const isExpired = now >= session.expiresAt.getTime();
  if (session.failure) return isExpired ? 'over' : 'failed';
  return isExpired ? 'expired' : reachedStepOf(session);
}

/**
 * The version of the session's form. A form with another version is out of date. It changes with the step, the hand-off
 * and the method, because these decide what the page asks.
 */
export function formVersionOf(
  { handoff, methods }: Pick<Session, 'handoff' | 'methods'>,
  step: Step,
): string {
  const version = handoff ? `${step}.${handoff.number}.${handoff.state}` : step;
  return methods ? `${version}.${methods.turn}` : version;
}

/** Why a session will not get a code: it has expired, or failed. Undefined while it can still get one, or has one. */
export function reasonAt({ failure }: Pick<Session, 'failure'>, step: Step): Reason | undefined {
  return step === 'expired' ? 'session_expired' : failure?.reason;
}

/** The requested claims that the registry knows, in the order of the scope. */
export function claimsAskedFor(session: Pick<Session, 'scope'>): ClaimName[] {
  return session.scope.filter(isClaimName);
}

/** The longest time that a return takes, most of it for requests to the source. */
const longestReturnMs = 16_000;

/** Whether a browser has returned from the source's site, and the server still waits for the source. */
export function isReturnUnderWay({ timeline }: Pick<Session, 'timeline'>, now: number): boolean {
  const last = timeline.at(-1);
  return last?.event === 'returned' && now - last.at.getTime() < longestReturnMs;
}
