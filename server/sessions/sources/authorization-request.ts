import { randomBytes } from 'node:crypto';
import type { Device } from '../../../contracts/verification.ts';
import { hmac, sameText, sha256 } from '../../platform/ids.ts';

/** An authorization request of one browser to an OpenID provider. The values are derived, so they are not stored. */
export interface AuthorizationRequest {
  id: string;
  device: Device;
  /** SHA-256 of the secret in the browser's cookie. */
  binding: string;
  /** `state` of the request. Only the browser that began the request can return with it. */
  state: string;
  /** Binds the provider's ID token to this request. */
  nonce: string;
  /** The code verifier of PKCE (RFC 7636 4.1). */
  codeVerifier: string;
}

interface Requester {
  sessionId: string;
  device: Device;
  /** The secret in the browser's cookie. */
  secret: string;
  /** The turn of the session's methods, if it has several. A request of an earlier turn is out of date. */
  turn?: number | undefined;
}

const statePattern =
  /^(?<sessionId>ses_[0-9A-Za-z]{22})\.(?<device>computer|phone)\.(?<id>[A-Za-z0-9_-]{22})\.(?<mac>[A-Za-z0-9_-]{43})$/;

/**
 * Reads a `state`: the session and the device to return to, and the id of the authorization request. They are not
 * verified yet, which `resume` does.
 * @returns undefined if the state is malformed
 */
export function parseState(state: string): { sessionId: string; device: Device; id: string } | undefined {
  const { sessionId, device, id } = statePattern.exec(state)?.groups ?? {};
  return sessionId && id ? { sessionId, device: device as Device, id } : undefined;
}

/** Makes authorization requests, and finds them again when the browser returns. */
export function createAuthorizationRequests(key: Uint8Array) {
  /** Derives all values of a request from its browser and its id, under a key of its own. */
  function derive({ sessionId, device, secret, turn }: Requester, id: string): AuthorizationRequest {
    const cause = ['attempt', sessionId, device, secret, id, ...(turn === undefined ? [] : [turn])];
    const attemptKey = Buffer.from(hmac(key, JSON.stringify(cause)));
    return {
      id,
      device,
      binding: sha256(secret),
      state: [sessionId, device, id, hmac(attemptKey, 'state')].join('.'),
      nonce: hmac(attemptKey, 'nonce'),
      codeVerifier: hmac(attemptKey, 'code verifier'),
    };
  }

  return {
    begin: (requester: Requester): AuthorizationRequest =>
      derive(requester, randomBytes(16).toString('base64url')),

    /** The request of a `state`. Undefined if the state is malformed, or if another browser began the request. */
    resume(requester: Requester, state: string): AuthorizationRequest | undefined {
      const parsed = parseState(state);
      const attempt = parsed && derive(requester, parsed.id);
      return attempt && sameText(attempt.state, state) ? attempt : undefined;
    },
  };
}
export type AuthorizationRequests = ReturnType<typeof createAuthorizationRequests>;
