import { deflateSync } from 'node:zlib';
import { CompactSign } from 'jose';
import type { Signer } from './attestations.ts';
import { statusIndexes } from './issuer.ts';

/** Makes the status list of the test issuer as a JWT (Token Status List, section 5.1). */
export async function testStatusList(signer: Signer, uri: string, now: number): Promise<Uint8Array> {
  const bits = Buffer.alloc(16);
  bits[Math.floor(statusIndexes.revoked / 8)] = 1 << (statusIndexes.revoked % 8);
  const iat = Math.floor(now / 1000);
  const payload = {
    sub: uri,
    iat,
    exp: iat + 600,
    ttl: 300,
    status_list: { bits: 1, lst: deflateSync(bits).toString('base64url') },
  };
  const x5c = signer.certificates.map((each) => Buffer.from(each).toString('base64'));
  const jwt = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', typ: 'statuslist+jwt', x5c })
    .sign(signer.key);
  return Buffer.from(jwt);
}
