import { createSign, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { Keyring } from './keyring.ts';

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Makes the function that returns the encoded header, which is the same for all signatures with a key. */
function createHeader(typ: string, alg: 'ES256' | 'RS256' = 'ES256'): (kid: string) => string {
  let header = { kid: '', text: '' };
  return (kid) => {
    if (header.kid !== kid) header = { kid, text: encode({ alg, typ, kid }) };
    return header.text;
  };
}

/**
 * Signs compact JWSs (RFC 7515 7.1) with the current ES256 key. `jose` is not used, because it signs on another thread, and
 * the change of threads takes twice as long as the signature.
 * @param typ the kind of JWS (RFC 8725 3.11), so that one kind is never accepted as another
 */
export function createSigner(keyring: Pick<Keyring, 'signing'>, typ: string) {
  const headerOf = createHeader(typ);
  return (payload: object): string => {
    const { kid, privateKey } = keyring.signing;
    const input = `${headerOf(kid)}.${encode(payload)}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
}

const signOnOtherThread = promisify(sign);

/** Signs compact JWSs with the current RS256 key, on another thread: a signature takes a millisecond. @param typ as above */
export function createRsaSigner(keyring: Pick<Keyring, 'signingRsa'>, typ: string) {
  const headerOf = createHeader(typ, 'RS256');
  return async (payload: object): Promise<string> => {
    const { kid, privateKey } = keyring.signingRsa;
    const input = `${headerOf(kid)}.${encode(payload)}`;
    const signature = await signOnOtherThread('sha256', Buffer.from(input), privateKey);
    return `${input}.${signature.toString('base64url')}`;
  };
}

/** Signs compact JWSs with payloads of megabytes, whose JSON text is added in parts, so that no part takes long. */
export function createLongSigner(keyring: Pick<Keyring, 'signing'>, typ: string) {
  const headerOf = createHeader(typ);
  return () => {
    const { kid, privateKey } = keyring.signing;
    const signature = createSign('sha256');
    const texts: string[] = [];
    /** The last bytes, because base64 encodes three bytes together. */
    let rest = Buffer.alloc(0);

    function append(text: string): void {
      signature.update(text, 'latin1');
      texts.push(text);
    }
    append(`${headerOf(kid)}.`);

    return {
      add(json: string): void {
        const bytes = Buffer.concat([rest, Buffer.from(json)]);
        const whole = bytes.length - (bytes.length % 3);
        append(bytes.toString('base64url', 0, whole));
        rest = bytes.subarray(whole);
      },
      /** Returns the JWS. */
      end(): string {
        append(rest.toString('base64url'));
        const signed = signature.sign({ key: privateKey, dsaEncoding: 'ieee-p1363' });
        return `${texts.join('')}.${signed.toString('base64url')}`;
      },
    };
  };
}
