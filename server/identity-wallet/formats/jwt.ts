import type { KeyObject } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { demand, PresentationRefused, type RefusalReason } from '../refused.ts';
import { parseJson } from './json.ts';

interface Expected {
  type: string;
  key: KeyObject;
  refusal: RefusalReason;
}

/** Verifies an ES256 JWT of a given type and returns its payload. @throws PresentationRefused */
export async function readJwt(jwt: string, { type, key, refusal }: Expected): Promise<unknown> {
  demand(key.asymmetricKeyDetails?.namedCurve === 'prime256v1', refusal, 'the key is not on P-256');
  try {
    const { payload, protectedHeader } = await compactVerify(jwt, key, { algorithms: ['ES256'] });
    demand(protectedHeader.typ === type, refusal, `typ is not ${type}`);
    // The library knows `b64`, which no JWT may use (RFC 7797 7). Other extensions it refuses itself.
    demand(protectedHeader.crit === undefined, refusal, 'unknown critical header');
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (error) {
    if (error instanceof PresentationRefused) throw error;
    throw new PresentationRefused(refusal);
  }
}

/** Returns the certificates of a JWT's `x5c` header (RFC 7515 4.1.6). The first is the signer's. @throws PresentationRefused */
export function certificatesOfJwt(jwt: string): Uint8Array[] {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(jwt);
  } catch {
    throw new PresentationRefused('malformed', 'JWT header');
  }
  const { x5c } = header;
  const isList = Array.isArray(x5c) && x5c.every((certificate) => typeof certificate === 'string');
  demand(isList, 'malformed', 'no x5c header');
  return x5c.map((certificate) => Buffer.from(certificate, 'base64'));
}
