import { randomBytes } from 'node:crypto';
import type { Device } from '../../../contracts/verification.ts';
import { hmac, sameText, sha256 } from '../../platform/ids.ts';

/** An authorization request of one browser to an OpenID provider. Its values are derived and not stored. */
export interface AuthorizationRequest {
  id: string;
  device: Device;
  /** SHA-256 of the secret of its cookie. */
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
  /** The secret of its cookie. */
  secret: string;
  /** Of the session's methods, where it has several: a request of an earlier turn is out of date. */
  turn?: number | undefined;
}

const shape = /^(ses_[0-9A-Za-z]{22})\.(computer|phone)\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** The session and device in a state. `resume` verifies them. */
export function destinationOf(state: string): { sessionId: string; device: Device } | undefined {
  const [, sessionId, device] = shape.exec(state) ?? [];
  return sessionId ? { sessionId, device: device as Device } : undefined;
}

export function createAuthorizationRequests(key: Uint8Array) {
  function derive({ sessionId, device, secret, turn }: Requester, id: string): AuthorizationRequest {
    const cause = ['attempt', sessionId, device, secret, id, ...(turn === undefined ? [] : [turn])];
    const own = Buffer.from(hmac(key, JSON.stringify(cause)));
    return {
      id,
      device,
      binding: sha256(secret),
      state: [sessionId, device, id, hmac(own, 'state')].join('.'),
      nonce: hmac(own, 'nonce'),
      codeVerifier: hmac(own, 'code verifier'),
    };
  }

  return {
    begin: (requester: Requester): AuthorizationRequest =>
      derive(requester, randomBytes(16).toString('base64url')),

    /** The id that a state names; empty where it has none. */
    idOf: (state: string): string => shape.exec(state)?.[3] ?? '',

    /** The attempt that a state belongs to; undefined unless this very browser began it. */
    resume(requester: Requester, state: string): AuthorizationRequest | undefined {
      const [, , , id = ''] = shape.exec(state) ?? [];
      const attempt = derive(requester, id);
      return sameText(attempt.state, state) ? attempt : undefined;
    },
  };
}
export type AuthorizationRequests = ReturnType<typeof createAuthorizationRequests>;
