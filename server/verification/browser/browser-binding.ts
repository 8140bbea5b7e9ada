import { randomBytes } from 'node:crypto';
import { hmac, sameText, sha256 } from '../../platform/ids.ts';

/** 256 random bits: what the cookie holds. */
export function newBrowserSecret(): string {
  return randomBytes(32).toString('base64url');
}

interface Submission {
  sessionId: string;
  /** The secret that came with the form. */
  secret: string;
  /** The form's own token, which only the page that was shown to this browser has held. */
  token: string;
}

/**
 * The secret that replaces `secret` at authentication: an attacker who planted the old cookie loses access. It is
 * derived, so that the same form sent twice (a double click, a lost answer) gets the same new cookie.
 */
export function rotatedSecret(key: Uint8Array, { sessionId, secret, token }: Submission): string {
  return hmac(key, JSON.stringify(['browser', sessionId, secret, token]));
}

/** The secret that a phone's confirmation puts into the computer's cookie, when that computer comes next. */
export function confirmedSecret(key: Uint8Array, about: { sessionId: string; phoneHash: string }): string {
  return hmac(key, JSON.stringify(['browser confirmed', about.sessionId, about.phoneHash]));
}

/** Whether the cookie's secret is the session's. */
export function isBound(browserHash: string, secret: string | undefined): boolean {
  return secret !== undefined && sameText(sha256(secret), browserHash);
}
