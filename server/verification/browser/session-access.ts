import { ApiError } from '../../platform/errors.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Language } from '../pages/languages.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Session } from '../session/transitions.ts';
import type { Device } from '../sources/authorization-request.ts';
import { confirmedSecret, isBound, rotatedSecret } from './browser-binding.ts';

/** A browser at the door of a session, with the secret of its cookie. */
export interface Visit {
  sessionId: string;
  device: Device;
  secret: string | undefined;
  /** What the person chose on our pages. */
  language?: Language | undefined;
}

interface Dependencies {
  sessions: Pick<SessionStore, 'find'>;
  keyring: Pick<Keyring, 'id'>;
}

function hashesOf({ browserHash, handoff }: Session, device: Device): (string | undefined)[] {
  return device === 'computer' ? [browserHash, handoff?.computerHash] : [handoff?.phoneHash];
}

/** Who may see and do what in a session: the browser that began it, and the phone that it was handed to. */
export function createVisits({ sessions, keyring }: Dependencies) {
  async function find(sessionId: string): Promise<Session> {
    const session = await sessions.find(sessionId);
    if (!session) throw new ApiError('session_not_found');
    return session;
  }

  function owns(session: Session, device: Device, secret: string | undefined): boolean {
    return hashesOf(session, device).some((hash) => hash !== undefined && isBound(hash, secret));
  }

  /** The secret that authentication by the form, or the return, with this token puts into the cookie. */
  function renewed({ sessionId }: Visit, secret: string, token: string): string {
    return rotatedSecret(keyring.id, { sessionId, secret, token });
  }

  /** What the computer's cookie holds from the confirmation on. */
  function confirmed({ _id: sessionId, handoff }: Session): string {
    if (!handoff?.phoneHash) throw new Error(`session ${sessionId} was not confirmed by a phone`);
    return confirmedSecret(keyring.id, { sessionId, phoneHash: handoff.phoneHash });
  }

  return {
    renewed,
    confirmed,

    /** The secret that this browser has to come back with before it sees more; undefined where it has the latest. */
    outdated(session: Session, { device, secret }: Visit): string | undefined {
      const old = session.handoff?.computerHash;
      const isOld = device === 'computer' && old !== undefined && isBound(old, secret);
      return isOld ? confirmed(session) : undefined;
    },

    /** The session of this browser. @throws ApiError `session_not_found`, `unauthorized` in another browser */
    async read(visit: Visit): Promise<Session> {
      const session = await find(visit.sessionId);
      if (!owns(session, visit.device, visit.secret)) throw new ApiError('unauthorized');
      return session;
    },

    /**
     * As `read`, for a form or a return with `token`; `secret` is the browser's where it is the session's, or
     * what this very form has already rotated it to.
     */
    async enter(visit: Visit, token: string): Promise<{ session: Session; secret: string; own: boolean }> {
      const session = await find(visit.sessionId);
      if (visit.secret === undefined) throw new ApiError('unauthorized');
      const candidates = [visit.secret, renewed(visit, visit.secret, token)];
      const secret = candidates.find((candidate) => owns(session, visit.device, candidate));
      if (secret === undefined) throw new ApiError('unauthorized');
      return { session, secret, own: secret === visit.secret };
    },
  };
}
export type Visits = ReturnType<typeof createVisits>;
