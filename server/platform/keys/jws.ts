import { sign } from 'node:crypto';
import type { Keyring } from './keyring.ts';

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/**
 * Signs compact JWSs (RFC 7515 7.1) with the current ES256 key. `jose` is not used, because it signs on another thread, and
 * the change of threads takes twice as long as the signature.
 * @param typ the kind of JWS (RFC 8725 3.11), so that one kind is never accepted as another
 */
export function createSigner(keyring: Pick<Keyring, 'signing'>, typ: string) {
  /** The encoded header, which is the same for all signatures with a key. */
  let header = { kid: '', text: '' };
  return (payload: object): string => {
    const { kid, privateKey } = keyring.signing;
    if (header.kid !== kid) header = { kid, text: encode({ alg: 'ES256', typ, kid }) };
    const input = `${header.text}.${encode(payload)}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
}
