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

/** What a repeated request has in common with the first: integration and body, whenever it was signed. */
export function fingerprintOf(integrationId: string, raw: Uint8Array): string {
  return createHash('sha256').update(`${integrationId}.`).update(raw).digest('base64url');
}
