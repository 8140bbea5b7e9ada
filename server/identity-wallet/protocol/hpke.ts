import type { KeyObject } from 'node:crypto';
import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';

/** The cipher suite that ISO/IEC TS 18013-7, annex C, requires. */
const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

interface Sealed {
  /** The encapsulated key: an uncompressed point. */
  enc: Uint8Array;
  ciphertext: Uint8Array;
  info: Uint8Array;
}

/** Additional data would be authenticated, but not encrypted. Annex C has none. */
const noAdditionalData = new Uint8Array();

const importKey = (key: KeyObject, kind: 'public' | 'private') =>
  suite.kem.importKey('jwk', key.export({ format: 'jwk' }), kind === 'public');

/** Copies bytes into a separate buffer, which Web Cryptography requires. */
const copied = (bytes: Uint8Array) => new Uint8Array(bytes);

/** Encrypts a single message in base mode, without additional data (RFC 9180 6.1). */
export async function seal(key: KeyObject, { plaintext, info }: { plaintext: Uint8Array; info: Uint8Array }) {
  const recipientPublicKey = await importKey(key, 'public');
  const recipient = { recipientPublicKey, info: copied(info) };
  const { enc, ct } = await suite.seal(recipient, copied(plaintext), noAdditionalData);
  return { enc: new Uint8Array(enc), ciphertext: new Uint8Array(ct) };
}

/** Decrypts a single message in base mode, without additional data (RFC 9180 6.1). @throws Error if it is not for `key` */
export async function openSealed(key: KeyObject, { enc, ciphertext, info }: Sealed): Promise<Uint8Array> {
  const recipientKey = await importKey(key, 'private');
  const recipient = { recipientKey, enc: copied(enc), info: copied(info) };
  const plaintext = await suite.open(recipient, copied(ciphertext), noAdditionalData);
  return new Uint8Array(plaintext);
}
