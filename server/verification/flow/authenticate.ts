import { sha256 } from '../../platform/ids.ts';
import type { Visit, Visits } from '../browser/session-access.ts';
import { recognised } from '../handoff/handoff.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { SessionStore } from '../session/session-store.ts';
import { authenticated, failed, type Session, type Transition } from '../session/transitions.ts';
import type { Authenticated, Failed } from '../sources/source.ts';

interface Dependencies {
  sessions: Pick<SessionStore, 'move'>;
  visits: Visits;
  enrolling: Pick<Enrolling, 'meet' | 'known'>;
  /** Publishes in the background what a session owes. */
  drain: (session: Session) => void;
  clock: { now(): number };
}

/** A browser that has shown who its user is, by a form or a return that carried `token`. */
interface Arrival {
  session: Session;
  visit: Visit;
  secret: string;
  token: string;
}

/** Makes somebody who has authenticated the session's user, and rotates the cookie of their browser. */
export function createArriving({ sessions, visits, enrolling, drain, clock }: Dependencies) {
  const now = () => new Date(clock.now());

  async function move(session: Session, transition: Transition): Promise<Session | undefined> {
    const moved = await sessions.move(session, transition, now());
    if (moved) drain(moved);
    return moved;
  }

  /** @returns the secret that the browser's cookie must hold from now on */
  async function arrive(
    { session, visit, secret, token }: Arrival,
    outcome: Authenticated | Failed,
  ): Promise<string> {
    if (outcome.kind === 'failed') {
      await move(session, failed(session, outcome.reason, now()));
      return secret;
    }
    const userId = await enrolling.meet(session, outcome);
    const renewed = visits.renewed(visit, secret, token);
    const { rehearse, carry } = outcome;
    const marked = rehearse ? { rehearse } : {};
    const { handoff } = session;
    const transition =
      visit.device === 'phone' && handoff
        ? recognised({ handoff, phoneHash: sha256(renewed), userId, ...marked }, carry, now())
        : authenticated(
            { ...enrolling.known(session, userId), browserHash: sha256(renewed), ...marked },
            carry,
            now(),
          );
    if (await move(session, transition)) return renewed;
    // Lost against another request of this browser: if that was the same form, it set the same secret.
    return (await visits.enter({ ...visit, secret }, token)).secret;
  }

  return { move, arrive };
}
export type Arriving = ReturnType<typeof createArriving>;
