import { randomBytes } from 'node:crypto';
import { hmac, sameText, sha256 } from '../../platform/ids.ts';

/** Which browser takes part in a session: the one that began it, or the phone that it was handed to. */
export type Device = 'computer' | 'phone';

/** One trip of one browser to a source's own site and back. Nothing is stored for it: all is derived. */
export interface Attempt {
  id: string;
  device: Device;
  /** SHA-256 of the secret of its cookie. */
  binding: string;
  /** Travels to the provider and back; only the browser that left with it can come back with it. */
  state: string;
  /** Ties the provider's ID token to this attempt. */
  nonce: string;
  /** PKCE (RFC 7636 4.1). */
  codeVerifier: string;
}

interface Traveller {
  sessionId: string;
  device: Device;
  /** The secret of its cookie. */
  secret: string;
}

const shape = /^(ses_[0-9A-Za-z]{22})\.(computer|phone)\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** The session and device in a state. `resume` verifies them. */
export function destinationOf(state: string): { sessionId: string; device: Device } | undefined {
  const [, sessionId, device] = shape.exec(state) ?? [];
  return sessionId ? { sessionId, device: device as Device } : undefined;
}

export function createAttempts(key: Uint8Array) {
  function derive({ sessionId, device, secret }: Traveller, id: string): Attempt {
    const own = Buffer.from(hmac(key, JSON.stringify(['attempt', sessionId, device, secret, id])));
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
    begin: (traveller: Traveller): Attempt => derive(traveller, randomBytes(16).toString('base64url')),

    /** The id that a state names; empty where it has none. */
    idOf: (state: string): string => shape.exec(state)?.[3] ?? '',

    /** The attempt that a state belongs to; undefined unless this very browser began it. */
    resume(traveller: Traveller, state: string): Attempt | undefined {
      const [, , , id = ''] = shape.exec(state) ?? [];
      const attempt = derive(traveller, id);
      return sameText(attempt.state, state) ? attempt : undefined;
    },
  };
}
export type Attempts = ReturnType<typeof createAttempts>;
