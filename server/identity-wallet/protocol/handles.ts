import type { Device } from '../../../contracts/verification.ts';
import { hmac, sameText } from '../../platform/ids.ts';
import { deriveKeyPair } from './derived-key.ts';

/** The identity of a request to an identity wallet. Requests are not stored: everything is derived from these fields. */
export interface Handle {
  source: string;
  sessionId: string;
  device: Device;
  /** SHA-256 of the secret in the cookie of the browser. */
  binding: string;
  /** How many requests of this session were answered before. After an answer, the next request has another token. */
  number: number;
  /** The id of the key from which the request is derived. */
  keyId: string;
}

/** Keys that rotate. A request keeps the key that was current when it was made. */
export interface RequestKeys {
  readonly current: { id: string };
  byId: (id: string) => { bytes: Uint8Array } | undefined;
}

/** A token is part of the URL to which a wallet posts its answer. Its last part can be derived only with our key. */
const tokenPattern =
  /^(?<sessionId>ses_[0-9A-Za-z]{22})\.(?<device>computer|phone)\.(?<number>\d{1,2})\.(?<keyId>[a-z]{1,8}-\d{1,6})\.[A-Za-z0-9_-]{43}$/;

/**
 * Returns the session and the request that an answer with this token is for; undefined if the token is malformed. It may be
 * forged until `isTokenOf` has verified it.
 */
export function destinationOfToken(token: string) {
  const { sessionId, device, number, keyId } = tokenPattern.exec(token)?.groups ?? {};
  if (!sessionId || keyId === undefined) return undefined;
  return { sessionId, device: device as Device, number: Number(number), keyId };
}

/** Derives the tokens, nonces and keys of requests to identity wallets. */
export function createHandles(keys: RequestKeys) {
  function keyOf({ keyId }: Handle): Uint8Array {
    const key = keys.byId(keyId);
    if (!key) throw new Error(`no key ${keyId}`);
    return key.bytes;
  }

  /** The values on which everything that is derived for a request depends. */
  const cause = ({ source, sessionId, device, binding, number }: Handle) => [
    'wallet request',
    source,
    sessionId,
    device,
    binding,
    number,
  ];
  const derive = (handle: Handle, purpose: string) =>
    hmac(keyOf(handle), JSON.stringify([...cause(handle), purpose]));
  const tokenOf = (handle: Handle) =>
    [handle.sessionId, handle.device, handle.number, handle.keyId, derive(handle, 'token')].join('.');

  return {
    begin: (request: Omit<Handle, 'keyId'>): Handle => ({ ...request, keyId: keys.current.id }),
    tokenOf,
    /** Returns the nonce that binds the holder's proof to this request. */
    nonceOf: (handle: Handle) => derive(handle, 'nonce'),
    /** Returns the key that decrypts the answer to this request only. */
    decryptionKeyOf: (handle: Handle) => deriveKeyPair(keyOf(handle), [...cause(handle), 'decryption']),
    /** Returns the key that decrypts the answer to this request by ISO/IEC TS 18013-7, annex C. */
    hpkeKeyOf: (handle: Handle) => deriveKeyPair(keyOf(handle), [...cause(handle), 'annex c']),
    isTokenOf: (handle: Handle, token: string) =>
      keys.byId(handle.keyId) !== undefined && sameText(tokenOf(handle), token),
  };
}
export type Handles = ReturnType<typeof createHandles>;
