import { createHash, createHmac } from 'node:crypto';
import { sameText } from '../../../platform/ids.ts';

/** The signing headers of a request as sent. */
export interface Signature {
  integrationId: string;
  /** Unix seconds. */
  timestamp: string;
  /** The text `sha256=…`. */
  value: string;
}

/** Returns the right value of a signature: the HMAC of `{integration_id}.{timestamp}.{raw body}` (interface 5.4). */
function expectedValue(secret: string, { integrationId, timestamp }: Signature, raw: Uint8Array): string {
  const mac = createHmac('sha256', secret).update(`${integrationId}.${timestamp}.`).update(raw);
  return `sha256=${mac.digest('hex')}`;
}

/** Whether a signature of a body was made with a secret. The comparison takes constant time. */
export function isSignedWith(secret: string, signature: Signature, raw: Uint8Array): boolean {
  return sameText(signature.value, expectedValue(secret, signature, raw));
}

function compactJson(raw: Uint8Array): Uint8Array | undefined {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(raw).toString('utf8'))));
  } catch {
    return undefined;
  }
}

/**
 * Returns why a signature does not match, if the reason is a common mistake, and otherwise how to sign. This reveals nothing to a
 * caller without the secret, because a mistake is only recognised if that secret was used.
 */
export function explainMismatch(secret: string, signature: Signature, raw: Uint8Array): string {
  const valueOfBodyAlone = `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
  if (sameText(signature.value, valueOfBodyAlone))
    return 'it signs the body alone; sign {integration_id}.{timestamp}.{raw body}';
  if (isSignedWith(secret.replace(/^intsec_/, ''), signature, raw))
    return 'it is made without the intsec_ of the secret; the key is the whole text';
  const reserialised = compactJson(raw);
  if (reserialised && isSignedWith(secret, signature, reserialised))
    return 'it signs another serialisation of the body; sign the very bytes that are sent';
  return 'sign {integration_id}.{timestamp}.{raw body}, the raw body being the very bytes that are sent';
}

/** Returns a hash of integration and body. A repeated request has the same hash, because the hash does not cover its time. */
export function fingerprintOf(integrationId: string, raw: Uint8Array): string {
  return createHash('sha256').update(`${integrationId}.`).update(raw).digest('base64url');
}
