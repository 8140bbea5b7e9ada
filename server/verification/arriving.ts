import { sha256 } from '../platform/ids.ts';
import type { Enrollment } from './people/enrollment-store.ts';
import type { SessionStore } from './session-store.ts';
import { authenticated, failed, type Session, type Transition } from './sessions.ts';
import type { Authenticated, Failed } from './sources/source.ts';
import type { Visit, Visits } from './visits.ts';

interface Dependencies {
  sessions: Pick<SessionStore, 'move'>;
  visits: Visits;
  enrol: (session: Session, who: Authenticated, at: Date) => Promise<Enrollment>;
  /** Publishes in the background what a session or an enrollment owes. */
  drain: { session(session: Session): void; enrollment(enrollment: Enrollment): void };
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
export function createArriving({ sessions, visits, enrol, drain, clock }: Dependencies) {
  const now = () => new Date(clock.now());

  async function move(session: Session, transition: Transition): Promise<Session | undefined> {
    const moved = await sessions.move(session, transition, now());
    if (moved) drain.session(moved);
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
    const enrollment = await enrol(session, outcome, now());
    drain.enrollment(enrollment);
    const renewed = visits.renewed(visit, secret, token);
    const { handoff } = session;
    const { userId, sub, _id: enrollmentId, firstSession } = enrollment;
    const returning = firstSession !== session._id;
    const browser =
      visit.device === 'phone' && handoff
        ? { browserHash: session.browserHash, handoff: { ...handoff, phoneHash: sha256(renewed) } }
        : { browserHash: sha256(renewed) };
    const who = { userId, sub, enrollmentId, returning, ...browser };
    if (await move(session, authenticated(who, outcome.carry, now()))) return renewed;
    // Lost against another request of this browser: if that was the same form, it set the same secret.
    return (await visits.enter({ ...visit, secret }, token)).secret;
  }

  return { move, arrive };
}
export type Arriving = ReturnType<typeof createArriving>;
