import { createHash, createHmac } from 'node:crypto';
import { sameText } from '../platform/ids.ts';

/** The integration that a call names, and when it was signed in Unix seconds, as sent. */
interface Signed {
  integrationId: string;
  timestamp: string;
}

/** Interface 5.4, docs/choices.md: `{integration_id}.{timestamp}.{raw body}`, the body as the bytes that were sent. */
function signatureOf(secret: string, { integrationId, timestamp }: Signed, raw: Uint8Array): string {
  const mac = createHmac('sha256', secret).update(`${integrationId}.${timestamp}.`).update(raw);
  return `sha256=${mac.digest('hex')}`;
}

/** Whether the signature fits, in constant time. */
export function isSignedWith(
  secret: string,
  signed: Signed & { signature: string },
  raw: Uint8Array,
): boolean {
  return sameText(signed.signature, signatureOf(secret, signed, raw));
}

function compact(raw: Uint8Array): Uint8Array | undefined {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(raw).toString('utf8'))));
  } catch {
    return undefined;
  }
}

/**
 * Which usual mistake a signature that does not fit was made with. It says nothing to a caller without the secret: each
 * mistake is found by a signature under that secret.
 */
export function mistakeIn(secret: string, signed: Signed & { signature: string }, raw: Uint8Array): string {
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

/** What a repeated request has in common with the first: integration and body, whenever it was signed. */
export function fingerprintOf(integrationId: string, raw: Uint8Array): string {
  return createHash('sha256').update(`${integrationId}.`).update(raw).digest('base64url');
}
