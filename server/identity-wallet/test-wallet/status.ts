import { deflateSync } from 'node:zlib';
import type { Signer } from '../formats/cbor.ts';
import { signJwt, x5cOf } from './attestations.ts';
import { statusIndexes } from './issuer.ts';

const lifetimeSeconds = 600;
const cacheSeconds = 300;
/** One bit for each attestation. Each byte is filled from its lowest bit on. */
const statuses = Buffer.alloc(16);
statuses[Math.floor(statusIndexes.revoked / 8)] = 1 << (statusIndexes.revoked % 8);

/** Makes the status list of the test issuer as a JWT (Token Status List, section 5.1). */
export function testStatusList(signer: Signer, uri: string, now: number): Uint8Array {
  const iat = Math.floor(now / 1000);
  const payload = {
    sub: uri,
    iat,
    exp: iat + lifetimeSeconds,
    ttl: cacheSeconds,
    status_list: { bits: 1, lst: deflateSync(statuses).toString('base64url') },
  };
  return Buffer.from(signJwt(signer.key, { typ: 'statuslist+jwt', x5c: x5cOf(signer) }, payload));
}
