import { ApiError } from '../../platform/errors.ts';
import { hmac, sha256 } from '../../platform/ids.ts';
import { digitsIn } from '../../platform/typed-digits.ts';
import type { DeviceName } from '../../sessions/devices.ts';
import { handoffClaimed, handoffMistyped, isCode, isOpen } from '../../sessions/hand-off/handoff.ts';
import { presentedLink } from '../../sessions/hand-off/link.ts';
import type { Handoff, Session } from '../../sessions/session.ts';
import { stepOf } from '../../sessions/steps.ts';
import type { PagesContext } from '../context.ts';
import type { Authentication } from '../flow/authenticate.ts';

/** The session of a phone's link that still works. */
export interface OpenLink {
  session: Session;
  handoff: Handoff;
}

interface Guess {
  code: string;
  phone: DeviceName;
  /** Identifies the form: the secret of its cookie, and its CSRF token. */
  form: { secret: string; csrf: string };
}

/** Lets a phone join a session by the link and by the code. Only the computer's screen shows the code. */
export function createPairing({ sessions, keyring, clock }: PagesContext, { move }: Authentication) {
  /** @throws ApiError `session_not_found` for a link that is unknown, expired or used */
  async function findOpenLink(token: string): Promise<OpenLink> {
    const session = await sessions.findByLink(presentedLink(token));
    const handoff = session?.handoff;
    const open = session && stepOf(session, clock.now()) === 'authenticate' && isOpen(handoff, clock.now());
    if (!open) throw new ApiError('session_not_found');
    return { session, handoff };
  }

  /** The session that this form has already joined. Undefined if it has joined none. */
  async function joinedBy(token: string, secret: string): Promise<string | undefined> {
    const session = await sessions.findByLink(presentedLink(token));
    const isMine = session?.handoff?.phoneHash === sha256(secret);
    return isMine ? session._id : undefined;
  }

  /** Counts a guess before it is answered, so that concurrent guesses count too. */
  async function guess(token: string, { code, phone }: Guess, secret: string): Promise<string | undefined> {
    const { session, handoff } = await findOpenLink(token);
    const at = new Date(clock.now());
    const digits = digitsIn(code);
    // An empty field is no guess, so it does not use up one of the three.
    if (digits === '') return undefined;
    const isRight = isCode(keyring.id, { sessionId: session._id, number: handoff.number }, digits);
    const change = isRight
      ? handoffClaimed(handoff, { phone, phoneHash: sha256(secret), at })
      : handoffMistyped(handoff, at);
    // Another guess was faster, or the link has expired. The error does not say whether this code was right.
    if (!(await move(session, change))) throw new ApiError('session_not_found');
    return isRight ? session._id : undefined;
  }

  return {
    findOpenLink,

    /**
     * @returns the session and the secret for the phone's cookie; undefined if the code is wrong
     * @throws ApiError `session_not_found` as `findOpenLink`
     */
    async join(token: string, attempt: Guess): Promise<{ sessionId: string; secret: string } | undefined> {
      // Derived from the form, so that a form that is sent twice gets the same secret.
      const secret = hmac(
        keyring.id,
        JSON.stringify(['phone', token, attempt.form.secret, attempt.form.csrf]),
      );
      try {
        const sessionId = await guess(token, attempt, secret);
        return sessionId === undefined ? undefined : { sessionId, secret };
      } catch (error) {
        // The form may be sent twice (a double click, a lost answer). Its first submission has then used the link up.
        const sessionId = await joinedBy(token, secret);
        if (!sessionId) throw error;
        return { sessionId, secret };
      }
    },
  };
}
export type Pairing = ReturnType<typeof createPairing>;
