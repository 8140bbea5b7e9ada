import { createHash } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** The name of the master key of a sealed value. The name is part of the key's hash, so it does not reveal the key. */
export function sealedUnder(sealed: string): string {
  const [header = ''] = sealed.split('.', 1);
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: string };
  return kid ?? ''; // No master key has this name.
}

/** A sealed value that this process cannot open: it lacks the master key, or the value was altered. */
export class UnreadableSecret extends Error {}

export const fingerprint = (key: Uint8Array) =>
  createHash('sha256').update('kid').update(key).digest('base64url').slice(0, 12);

/**
 * Encrypts short secrets under the master key, so that the database alone does not reveal them.
 * @param masterKeys 32 bytes each. The first one seals, and all of them open. So a new key can be put first at any time
 */
export function createSealing(masterKeys: readonly [Uint8Array, ...Uint8Array[]]) {
  const byFingerprint = new Map(masterKeys.map((key) => [fingerprint(key), key]));
  const [current, ...others] = masterKeys;
  let missing: ReadonlySet<string> = new Set();
  const lacks = (name: string) => !byFingerprint.has(name);

  /** Notes that values are sealed under these master keys. Those that this process has are ignored. */
  function note(names: readonly string[]): void {
    const lacking = names.filter((name) => lacks(name) && !missing.has(name));
    if (lacking.length > 0) missing = new Set([...missing, ...lacking]);
  }

  return {
    /** Names of the master keys that values are sealed under and that this process lacks, as far as it knows. */
    missing: (): readonly string[] => [...missing],

    /** Replaces what is known of missing keys. @param names the master keys that values in the database are sealed under */
    noteAll(names: Iterable<string>): void {
      missing = new Set([...names].filter(lacks));
    },

    /** Names of the master keys of this process; the first one seals. */
    masterKeys: [fingerprint(current), ...others.map(fingerprint)] as const,

    /** Returns a compact JWE (`dir`, `A256GCM`) whose `kid` names the master key. */
    seal: (text: string): Promise<string> =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: fingerprint(current) })
        .encrypt(current),

    note,

    /** Decrypts a value. @throws UnreadableSecret */
    async open(sealed: string): Promise<string> {
      const name = sealedUnder(sealed);
      const key = byFingerprint.get(name);
      if (!key) {
        note([name]);
        throw new UnreadableSecret('sealed under a master key that SVC_MASTER_KEY does not list');
      }
      try {
        const { plaintext } = await compactDecrypt(sealed, key, { keyManagementAlgorithms: ['dir'] });
        return new TextDecoder().decode(plaintext);
      } catch (cause) {
        throw new UnreadableSecret('the sealed value was altered', { cause });
      }
    },
  };
}
export type Sealing = ReturnType<typeof createSealing>;
