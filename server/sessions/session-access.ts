import { randomBytes } from 'node:crypto';
import type { Device } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import { issueToken, isTokenOf } from '../platform/http/browser/csrf.ts';
import type { Language } from '../platform/http/browser/language.ts';
import { hmac, sameText, sha256 } from '../platform/ids.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Session } from './session.ts';
import type { SessionStore } from './session-store.ts';

/** The secret of a new browser cookie: 256 random bits, base64url. */
export function newBrowserSecret(): string {
  return randomBytes(32).toString('base64url');
}

function isBound(browserHash: string, secret: string | undefined): boolean {
  return secret !== undefined && sameText(sha256(secret), browserHash);
}

/** The session and device of a request from a browser, with the secret of its cookie. */
export interface BrowserContext {
  sessionId: string;
  device: Device;
  secret: string | undefined;
  /** The CSRF token of the last page that this browser has loaded. */
  formToken?: string | undefined;
  language?: Language | undefined;
  /** Mark of the user who saved a passkey in this browser, or declined to. */
  passkeyMark?: string | undefined;
}

interface Dependencies {
  sessions: Pick<SessionStore, 'find'>;
  keyring: Pick<Keyring, 'id'>;
}

/**
 * The hashes of the secrets that open the session at a device. After the phone's confirmation the computer has two: by
 * its old secret it can still fetch the new one.
 */
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

  function owns(session: Session, { device, secret }: Pick<BrowserContext, 'device' | 'secret'>): boolean {
    return hashesOf(session, device).some((hash) => hash !== undefined && isBound(hash, secret));
  }

  /**
   * The secret that replaces `secret` in the browser's cookie at authentication. An attacker who planted the old cookie
   * loses access. The secret is derived from the request, so a form that is sent twice gets the same cookie.
   * @param token the form's CSRF token, or the provider's response: only this browser was given it
   */
  function rotatedSecret({ sessionId }: BrowserContext, secret: string, token: string): string {
    return hmac(keyring.id, JSON.stringify(['browser', sessionId, secret, token]));
  }

  /** The computer's secret after the user at the phone has confirmed. The computer gets it with its next request. */
  function secretAfterConfirmation({ _id: sessionId, handoff }: Session): string {
    if (!handoff?.phoneHash) throw new Error(`session ${sessionId} was not confirmed by a phone`);
    return hmac(keyring.id, JSON.stringify(['browser confirmed', sessionId, handoff.phoneHash]));
  }

  /**
   * As `authorize`, for a request that may rotate the secret: a form, or a provider's return. When the browser sends
   * the request a second time (a double click, a lost answer), it still has the old secret. That one is accepted too.
   * So it is when the browser loads the page after a lost answer: its cookie then has the token of the form.
   * @param token as for `rotatedSecret`
   * @returns the session's present `secret`; `isCurrent`: whether the browser has sent it, so nothing was rotated yet
   */
  async function authorizeForm(
    browser: BrowserContext,
    token: string,
  ): Promise<{ session: Session; secret: string; isCurrent: boolean }> {
    const session = await find(browser.sessionId);
    const { device, secret: sent } = browser;
    if (sent === undefined) throw new ApiError('unauthorized');
    if (owns(session, browser)) return { session, secret: sent, isCurrent: true };
    const rotated = rotatedSecret(browser, sent, token);
    if (!owns(session, { device, secret: rotated })) throw new ApiError('unauthorized');
    return { session, secret: rotated, isCurrent: false };
  }

  /** The last part of a form's CSRF token: it proves that we made the form for this session and device. */
  const refusalMac = ({ sessionId, device }: BrowserContext, nonce: string): string =>
    // 128 bits, because a page may have a form for each method, each with a token.
    hmac(keyring.id, JSON.stringify(['refusal', sessionId, device, nonce])).slice(0, 22);

  return {
    owns,

    /** The CSRF token of a form of the session. */
    formToken(browser: BrowserContext): string {
      const token = issueToken(browser.secret ?? '');
      const [nonce = ''] = token.split('.', 1);
      return `${token}.${refusalMac(browser, nonce)}`;
    },

    /**
     * Whether a form may end the session, which is less than what `isTokenOf` asks for. The page of another tab may have a
     * token of an earlier secret. The service keeps no earlier secrets, so the token has a part that outlasts a rotation.
     * An attacker who has set the earlier cookie could know such a token. It can only end the session, and nothing is shared then.
     */
    mayRefuse(browser: BrowserContext, secret: string, token: string): boolean {
      const [nonce = '', , mac = ''] = token.split('.', 3);
      return isTokenOf(secret, token) || sameText(mac, refusalMac(browser, nonce));
    },

    rotatedSecret,
    secretAfterConfirmation,
    authorizeForm,

    /**
     * The new secret of a computer whose cookie still holds the one from before the phone's confirmation. Undefined for
     * all other browsers.
     */
    outstandingSecret(session: Session, { device, secret }: BrowserContext): string | undefined {
      const oldHash = session.handoff?.computerHash;
      const isOutdated = device === 'computer' && oldHash !== undefined && isBound(oldHash, secret);
      return isOutdated ? secretAfterConfirmation(session) : undefined;
    },

    /** The session of this browser. @throws ApiError `session_not_found`, `unauthorized` in another browser */
    async authorize(browser: BrowserContext): Promise<Session> {
      const session = await find(browser.sessionId);
      if (!owns(session, browser)) throw new ApiError('unauthorized');
      return session;
    },

    /**
     * Returns the cookie's secret after a move that rotates it.
     * @param moved undefined if another request has changed the session first. If that was the same form, sent twice, it
     * has set the same new secret; else the old one is still valid.
     */
    afterRotation: async (
      moved: Session | undefined,
      { browser, renewed, token }: { browser: BrowserContext; renewed: string; token: string },
    ): Promise<{ session: Session; secret: string }> =>
      moved ? { session: moved, secret: renewed } : authorizeForm(browser, token),
  };
}
export type SessionAccess = ReturnType<typeof createSessionAccess>;
