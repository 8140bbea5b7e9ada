import { randomBytes } from 'node:crypto';
import type { Device } from '../../../contracts/verification.ts';
import { ApiError } from '../../platform/errors.ts';
import { hmac, sameText, sha256 } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { Language } from '../pages/languages.ts';
import type { Session } from '../session/session.ts';
import type { SessionStore } from '../session/session-store.ts';

/** The secret of a new browser cookie: 256 random bits, base64url. */
export function newBrowserSecret(): string {
  return randomBytes(32).toString('base64url');
}

interface Submission {
  sessionId: string;
  /** The secret that came with the form. */
  secret: string;
  /** The form's CSRF token. Only the page that was shown to this browser contained it. */
  token: string;
}

/**
 * The secret that replaces `secret` at authentication: an attacker who planted the old cookie loses access. The new
 * secret is derived, so that a form that is sent twice (a double click, a lost answer) gets the same cookie.
 */
function rotatedSecret(key: Uint8Array, { sessionId, secret, token }: Submission): string {
  return hmac(key, JSON.stringify(['browser', sessionId, secret, token]));
}

/** The computer's secret after the user at the phone has confirmed. The computer gets it with its next request. */
function confirmedSecret(
  key: Uint8Array,
  { sessionId, phoneHash }: { sessionId: string; phoneHash: string },
): string {
  return hmac(key, JSON.stringify(['browser confirmed', sessionId, phoneHash]));
}

/** Whether the cookie's secret is the session's. */
function isBound(browserHash: string, secret: string | undefined): boolean {
  return secret !== undefined && sameText(sha256(secret), browserHash);
}

/** The session and device of a request from a browser, with the secret of its cookie. */
export interface BrowserContext {
  sessionId: string;
  device: Device;
  secret: string | undefined;
  /** The language that the user chose. */
  language?: Language | undefined;
  /** Mark of the user who saved a passkey in this browser, or declined to. */
  passkeyMark?: string | undefined;
}

interface Dependencies {
  sessions: Pick<SessionStore, 'find'>;
  keyring: Pick<Keyring, 'id'>;
}

function hashesOf({ browserHash, handoff }: Session, device: Device): (string | undefined)[] {
  return device === 'computer' ? [browserHash, handoff?.computerHash] : [handoff?.phoneHash];
}

/** Authorizes browsers for a session: the one that began it, and the phone of a hand-off. */
export function createSessionAccess({ sessions, keyring }: Dependencies) {
  async function find(sessionId: string): Promise<Session> {
    const session = await sessions.find(sessionId);
    if (!session) throw new ApiError('session_not_found');
    return session;
  }

  /** Whether the session belongs to this browser. */
  function owns(session: Session, { device, secret }: Pick<BrowserContext, 'device' | 'secret'>): boolean {
    return hashesOf(session, device).some((hash) => hash !== undefined && isBound(hash, secret));
  }

  /** The cookie's new secret after authentication by the form, or the provider's return, with this token. */
  function rotated({ sessionId }: BrowserContext, secret: string, token: string): string {
    return rotatedSecret(keyring.id, { sessionId, secret, token });
  }

  /** The secret of the computer's cookie after the confirmation. */
  function confirmed({ _id: sessionId, handoff }: Session): string {
    if (!handoff?.phoneHash) throw new Error(`session ${sessionId} was not confirmed by a phone`);
    return confirmedSecret(keyring.id, { sessionId, phoneHash: handoff.phoneHash });
  }

  /**
   * As `authorize`, for a form or a provider's return with `token`. Accepts also a repeated form, whose first
   * submission has rotated the secret.
   * @returns the session's `secret`; `isCurrent`: whether the browser sent this secret, so nothing was rotated yet
   */
  async function authorizeForm(
    browser: BrowserContext,
    token: string,
  ): Promise<{ session: Session; secret: string; isCurrent: boolean }> {
    const session = await find(browser.sessionId);
    if (browser.secret === undefined) throw new ApiError('unauthorized');
    const { device } = browser;
    const candidates = [browser.secret, rotated(browser, browser.secret, token)];
    const secret = candidates.find((candidate) => owns(session, { device, secret: candidate }));
    if (secret === undefined) throw new ApiError('unauthorized');
    return { session, secret, isCurrent: secret === browser.secret };
  }

  return {
    owns,
    rotated,
    confirmed,
    authorizeForm,

    /** The rotated secret that this browser has to use next; undefined if its cookie holds it already. */
    latestSecret(session: Session, { device, secret }: BrowserContext): string | undefined {
      const old = session.handoff?.computerHash;
      const isOld = device === 'computer' && old !== undefined && isBound(old, secret);
      return isOld ? confirmed(session) : undefined;
    },

    /** The session of this browser. @throws ApiError `session_not_found`, `unauthorized` in another browser */
    async authorize(browser: BrowserContext): Promise<Session> {
      const session = await find(browser.sessionId);
      if (!owns(session, browser)) throw new ApiError('unauthorized');
      return session;
    },

    /** Returns the cookie's secret after a move that rotates it. If another request with the same token was faster, it has set the same secret. */
    afterRotation: async (
      moved: Session | undefined,
      { browser, renewed, token }: { browser: BrowserContext; renewed: string; token: string },
    ): Promise<{ session: Session; secret: string }> =>
      moved ? { session: moved, secret: renewed } : authorizeForm(browser, token),
  };
}
export type SessionAccess = ReturnType<typeof createSessionAccess>;
