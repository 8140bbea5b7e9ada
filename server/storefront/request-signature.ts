import { createHash, createHmac } from 'node:crypto';
import { sameText } from '../platform/ids.ts';

/** The integration that a call names, and the time of the signature in Unix seconds, both as sent. */
interface Signed {
  integrationId: string;
  timestamp: string;
}

export interface Signature extends Signed {
  signature: string;
}

/** Returns the HMAC of `{integration_id}.{timestamp}.{raw body}`, with the bytes of the body as sent (interface 5.4). */
function signatureOf(secret: string, { integrationId, timestamp }: Signed, raw: Uint8Array): string {
  const mac = createHmac('sha256', secret).update(`${integrationId}.${timestamp}.`).update(raw);
  return `sha256=${mac.digest('hex')}`;
}

/** Whether the signature matches. The comparison takes constant time. */
export function isSignedWith(secret: string, signed: Signature, raw: Uint8Array): boolean {
  return sameText(signed.signature, signatureOf(secret, signed, raw));
}

/** Returns the body as compact JSON; undefined if it is not JSON. */
function compact(raw: Uint8Array): Uint8Array | undefined {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(raw).toString('utf8'))));
  } catch {
    return undefined;
  }
}

/**
 * Names the common mistake that explains a wrong signature. This reveals nothing to a caller without the secret, because each
 * mistake is recognised by a signature with that secret.
 */
export function mistakeIn(secret: string, signed: Signature, raw: Uint8Array): string {
  const { signature } = signed;
  const alone = `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
  if (sameText(signature, alone))
    return 'it signs the body alone; sign {integration_id}.{timestamp}.{raw body}';
  if (isSignedWith(secret.replace(/^intsec_/, ''), signed, raw))
    return 'it is made without the intsec_ of the secret; the key is the whole text';
  const other = compact(raw);
  if (other && isSignedWith(secret, signed, other))
    return 'it signs another serialisation of the body; sign the very bytes that are sent';
  return 'sign {integration_id}.{timestamp}.{raw body}, the raw body being the very bytes that are sent';
}

/** Returns a text that is the same for repetitions of a request: it depends on integration and body, but not on the time. */
export function fingerprintOf(integrationId: string, raw: Uint8Array): string {
  return createHash('sha256').update(`${integrationId}.`).update(raw).digest('base64url');
}
