import type { Enrolling } from '../../people/enrollments/enroll.ts';
import type { Outbox } from '../../people/enrollments/outbox.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { sha256 } from '../../platform/ids.ts';
import { handoffAuthenticated } from '../../sessions/hand-off/handoff.ts';
import { methodFailed, methodOutcome } from '../../sessions/methods.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import type { Authenticated, Failed } from '../../sessions/sources/source.ts';
import { authenticated, joined, type Transition, verified } from '../../sessions/transitions.ts';
import type { PagesContext } from '../context.ts';

/** The session and the browser in which the source has identified the user. */
interface AuthenticatingBrowser {
  session: Session;
  browser: BrowserContext;
  /** The secret that the browser's cookie will hold from now on (see `rotatedSecret` of `SessionAccess`). */
  renewed: string;
}

/** Applies transitions to sessions, and records the person who has authenticated as the session's user. */
export function createAuthentication(
  { sessions, hasFreshClaims, onMethod, clock }: PagesContext,
  { enrolling, outbox }: { enrolling: Enrolling; outbox: Outbox },
) {
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

  /**
   * Records the result of an authentication in the session.
   * @returns the session after its transition; undefined if another request changed it first
   */
  async function authenticate(
    { session, browser, renewed }: AuthenticatingBrowser,
    outcome: Authenticated | Failed,
  ): Promise<Session | undefined> {
    if (outcome.kind === 'failed') {
      const { reason } = outcome;
      // A user who has only cancelled may choose the same method again.
      return move(session, methodFailed(session, { reason, canRetry: reason === 'abandoned' }, now()));
    }
    const { carry: carried, result } = outcome;
    // If the source has verified the user already, a new user gets the claims at once, and the step `verify` is not needed.
    // Two cases wait for `verify`. At a phone, no claims are stored before the user confirms the computer. If the source knows
    // the person under another identity (`duplicate`), the enrollment has to be blocked first.
    const mayStoreClaims = result?.kind === 'verified' && !result.duplicate && browser.device === 'computer';
    const claims = mayStoreClaims ? result.claims : undefined;
    const { user, isNew } = await enrolling.findOrCreateUser(session, outcome, claims);
    const { handoff, source } = session;
    const rehearsal = givenFields({ rehearse: outcome.rehearse });
    // A shared user is not asked to save a passkey.
    const asked = outcome.shared && session.passkey ? { passkey: 'answered' as const } : {};
    if (browser.device === 'phone' && handoff) {
      const phone = { source, handoff, phoneHash: sha256(renewed), userId: user._id, ...rehearsal };
      return move(session, handoffAuthenticated(phone, carried, now()));
    }
    const at = now();
    const ids = enrolling.idsOf(session, user._id);
    const authentication = authenticated(
      { ...ids, source, browserHash: sha256(renewed), ...rehearsal, ...asked },
      { carried, at },
    );
    // For a user whose identity is known to be a duplicate, `verify` blocks the enrollment with this client too.
    if (user.duplicate || !hasFreshClaims(session, user)) return move(session, authentication);
    const verification = verified(isNew ? 'by the source' : 'claims were still fresh', at);
    return move(session, joined(authentication, verification));
  }

  return { move, authenticate };
}
export type Authentication = ReturnType<typeof createAuthentication>;
