import { createHash } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** The name of the master key of a sealed value. The name is part of the key's hash, so it does not reveal the key. */
export function sealedUnder(sealed: string): string {
  const [header = ''] = sealed.split('.', 1);
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: string };
  return kid ?? ''; // No master key has this name.
}

/** The name of a master key. */
export const fingerprint = (key: Uint8Array) =>
  createHash('sha256').update('kid').update(key).digest('base64url').slice(0, 12);

/**
 * Encrypts short secrets under the master key, so that the database alone does not reveal them.
 * @param masterKeys 32 bytes each. The first one seals, and all of them open. So a new key can be put first at any time
 */
export function createSealing(masterKeys: readonly [Uint8Array, ...Uint8Array[]]) {
  const byFingerprint = new Map(masterKeys.map((key) => [fingerprint(key), key]));
  const [current, ...others] = masterKeys;

  return {
    /** Names of the master keys of this process; the first one seals. */
    masterKeys: [fingerprint(current), ...others.map(fingerprint)] as const,

    /** Returns a compact JWE (`dir`, `A256GCM`) whose `kid` names the master key. */
    seal: (text: string): Promise<string> =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: fingerprint(current) })
        .encrypt(current),

    /** Decrypts a value. @throws if no master key of this process opens it, or it was altered */
    async open(sealed: string): Promise<string> {
      const key = byFingerprint.get(sealedUnder(sealed));
      if (!key) throw new Error('sealed under a master key that SVC_MASTER_KEY does not list');
      const { plaintext } = await compactDecrypt(sealed, key, { keyManagementAlgorithms: ['dir'] });
      return new TextDecoder().decode(plaintext);
    },
  };
}
export type Sealing = ReturnType<typeof createSealing>;
