import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { keyed } from '../../platform/ids.ts';

/** Derives a private key on P-256 from `key` and `cause`. All processes derive the same key. */
export function deriveKeyPair(key: Uint8Array, cause: readonly (string | number)[]): KeyObject {
  const curve = createECDH('prime256v1');
  // A scalar that is zero or too large (probability 2⁻³²) is no private key. Then the next round is tried.
  for (let round = 0; ; round += 1) {
    const scalar = keyed(key, ['key pair', ...cause, round]);
    try {
      curve.setPrivateKey(scalar);
    } catch {
      continue;
    }
    // An uncompressed point is one byte for its form, then x and y with 32 bytes each.
    const point = curve.getPublicKey();
    const x = point.subarray(1, 33).toString('base64url');
    const y = point.subarray(33).toString('base64url');
    const jwk = { kty: 'EC', crv: 'P-256', x, y, d: scalar.toString('base64url') };
    return createPrivateKey({ key: jwk, format: 'jwk' });
  }
}
