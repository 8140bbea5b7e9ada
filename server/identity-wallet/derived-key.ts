import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto';
import { keyed } from '../platform/ids.ts';

/** The private key on P-256 that `cause` always leads to under `key`: all processes have the same one. */
export function deriveKeyPair(key: Uint8Array, cause: readonly (string | number)[]): KeyObject {
  const curve = createECDH('prime256v1');
  // A scalar that is zero or too large has a probability of 2⁻³²; the next one then does.
  for (let round = 0; ; round += 1) {
    const scalar = keyed(key, ['key pair', ...cause, round]);
    try {
      curve.setPrivateKey(scalar);
    } catch {
      continue;
    }
    const point = curve.getPublicKey();
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    const jwk = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '', d: scalar.toString('base64url') };
    return createPrivateKey({ key: jwk, format: 'jwk' });
  }
}
