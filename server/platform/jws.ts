import { sign } from 'node:crypto';
import type { Keyring } from './keyring.ts';

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/**
 * Signs compact JWSs (RFC 7515 7.1) with the published ES256 key. Not by `jose`, which signs on another thread: the way there and
 * back costs twice the signature.
 * @param typ what the payload is (RFC 8725 3.11), so that one kind of JWS never passes for another
 */
export function createSigner({ signing }: Pick<Keyring, 'signing'>, typ: string) {
  const header = encode({ alg: 'ES256', typ, kid: signing.kid });
  return (payload: object): string => {
    const input = `${header}.${encode(payload)}`;
    const signature = sign('sha256', Buffer.from(input), {
      key: signing.privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return `${input}.${signature.toString('base64url')}`;
  };
}
