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
  /** PKCE (RFC 7636 4.1). */
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

const statePattern = /^(ses_[0-9A-Za-z]{22})\.(computer|phone)\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** The session and device in a state. `resume` verifies them. */
export function destinationOf(state: string): { sessionId: string; device: Device } | undefined {
  const [, sessionId, device] = statePattern.exec(state) ?? [];
  return sessionId ? { sessionId, device: device as Device } : undefined;
}

export function createAuthorizationRequests(key: Uint8Array) {
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

    /** The id of the attempt in a state; empty if the state is malformed. */
    idOf: (state: string): string => statePattern.exec(state)?.[3] ?? '',

    /** The attempt of a state; undefined if another browser began it. */
    resume(requester: Requester, state: string): AuthorizationRequest | undefined {
      const [, , , id = ''] = statePattern.exec(state) ?? [];
      const attempt = derive(requester, id);
      return sameText(attempt.state, state) ? attempt : undefined;
    },
  };
}
export type AuthorizationRequests = ReturnType<typeof createAuthorizationRequests>;
