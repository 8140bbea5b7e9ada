import type { Device } from '../../contracts/verification.ts';
import { hmac, sameText } from '../platform/ids.ts';
import { deriveKeyPair } from './derived-key.ts';

/** One request to an identity wallet, by all that it belongs to. Nothing is stored for it. */
export interface Handle {
  source: string;
  sessionId: string;
  device: Device;
  /** SHA-256 of the secret in the cookie of the browser that asks. */
  binding: string;
  /** Requests of this session that were answered before. */
  number: number;
}

const shape = /^(ses_[0-9A-Za-z]{22})\.(computer|phone)\.(\d{1,2})\.([A-Za-z0-9_-]{43})$/;

/** The session and request in a token. A comparison verifies them. */
export function destinationOfToken(token: string) {
  const [, sessionId, device, number] = shape.exec(token) ?? [];
  return sessionId ? { sessionId, device: device as Device, number: Number(number) } : undefined;
}

/** What the requests to identity wallets are made of, all of it derived from what they belong to. */
export function createHandles(key: Uint8Array) {
  const cause = ({ source, sessionId, device, binding, number }: Handle) => [
    'wallet request',
    source,
    sessionId,
    device,
    binding,
    number,
  ];
  const derive = (handle: Handle, what: string) => hmac(key, JSON.stringify([...cause(handle), what]));
  const tokenOf = (handle: Handle) =>
    [handle.sessionId, handle.device, handle.number, derive(handle, 'token')].join('.');

  return {
    tokenOf,
    /** Ties the holder's proof to this request. */
    nonceOf: (handle: Handle) => derive(handle, 'nonce'),
    /** Opens the encrypted answer to this request and to no other. */
    decryptionKeyOf: (handle: Handle) => deriveKeyPair(key, [...cause(handle), 'decryption']),
    /** Opens the answer to this request by ISO/IEC TS 18013-7, annex C. */
    hpkeKeyOf: (handle: Handle) => deriveKeyPair(key, [...cause(handle), 'annex c']),
    isTokenOf: (handle: Handle, token: string) => sameText(tokenOf(handle), token),
  };
}
export type Handles = ReturnType<typeof createHandles>;
