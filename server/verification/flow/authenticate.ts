import { sha256 } from '../../platform/ids.ts';
import type { BrowserContext } from '../browser/session-access.ts';
import { handoffAuthenticated } from '../handoff/handoff.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { HasFreshClaims } from '../people/fresh-claims.ts';
import { type MethodOutcome, methodFailed, methodOutcome } from '../session/methods.ts';
import type { Outbox } from '../session/outbox.ts';
import type { Session } from '../session/session.ts';
import type { SessionStore } from '../session/session-store.ts';
import { authenticated, authenticatedAndVerified, type Transition } from '../session/transitions.ts';
import type { Authenticated, Failed } from '../sources/source.ts';

interface Dependencies {
  sessions: Pick<SessionStore, 'move'>;
  enrolling: Pick<Enrolling, 'findOrCreateUser' | 'idsOf'>;
  outbox: Pick<Outbox, 'drain'>;
  hasFreshClaims: HasFreshClaims;
  /** Called when a method has ended. */
  onMethod: (source: string, outcome: MethodOutcome) => void;
  clock: { now(): number };
}

/** A browser that has identified its user, by a form or a return. */
interface Arrival {
  session: Session;
  browser: BrowserContext;
  /** The secret that the browser's cookie will hold from now on. */
  renewed: string;
}

/** Applies transitions to sessions, and records the person who has authenticated as the session's user. */
export function createAuthentication({
  sessions,
  enrolling,
  outbox,
  hasFreshClaims,
  onMethod,
  clock,
}: Dependencies) {
  const now = () => new Date(clock.now());

  /** @returns the session after the transition; undefined if it has changed since it was read, or has expired */
  async function move(session: Session, transition: Transition): Promise<Session | undefined> {
    const moved = await sessions.move(session, transition, now());
    const outcome = moved && methodOutcome(session, transition);
    if (outcome) onMethod(moved.source, outcome);
    // Publishes the event of a failure now, because the browser may never come back.
    if (moved?.failure) outbox.drain(moved);
    return moved;
  }

  /** @returns the session after its transition; undefined if another request changed it first */
  async function authenticate(
    { session, browser, renewed }: Arrival,
    outcome: Authenticated | Failed,
  ): Promise<Session | undefined> {
    if (outcome.kind === 'failed') {
      const { reason } = outcome;
      // A user who has only cancelled may choose the same method again.
      return move(session, methodFailed(session, { reason, canRetry: reason === 'abandoned' }, now()));
    }
    const { rehearse, carry, result } = outcome;
    // A new user gets the claims at once, which makes the step `verify` needless. From a phone, no claims are stored
    // before the confirmation. For a duplicate identity, `verify` has to block the enrollment first.
    const isFinal = result?.kind === 'verified' && !result.duplicate && browser.device === 'computer';
    const { user, isNew } = await enrolling.findOrCreateUser(
      session,
      outcome,
      isFinal ? result.claims : undefined,
    );
    const rehearsal = rehearse ? { rehearse } : {};
    const { handoff, source } = session;
    if (browser.device === 'phone' && handoff) {
      const phone = { source, handoff, phoneHash: sha256(renewed), userId: user._id, ...rehearsal };
      return move(session, handoffAuthenticated(phone, carry, now()));
    }
    const who = { ...enrolling.idsOf(session, user._id), source, browserHash: sha256(renewed), ...rehearsal };
    const needsVerify = user.duplicate || !hasFreshClaims(session, user);
    if (needsVerify) return move(session, authenticated(who, { carried: carry, at: now() }));
    const note = isNew ? 'by the source' : 'claims were still fresh';
    return move(session, authenticatedAndVerified(who, { note, at: now() }));
  }

  return { move, authenticate };
}
export type Authentication = ReturnType<typeof createAuthentication>;
