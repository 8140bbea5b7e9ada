import type { KeyObject } from 'node:crypto';
import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';

/** The one suite of ISO/IEC TS 18013-7, annex C. */
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

/** Over a buffer of its own, as Web Cryptography wants it. */
const own = (bytes: Uint8Array) => new Uint8Array(bytes);

/** Encrypts a single message in base mode, without additional data (RFC 9180 6.1). */
export async function seal(key: KeyObject, { plaintext, info }: { plaintext: Uint8Array; info: Uint8Array }) {
  const recipientPublicKey = await suite.kem.importKey('jwk', key.export({ format: 'jwk' }), true);
  const given = { recipientPublicKey, info: own(info) };
  const { enc, ct } = await suite.seal(given, own(plaintext), new Uint8Array());
  return { enc: new Uint8Array(enc), ciphertext: new Uint8Array(ct) };
}

/** Decrypts a single message in base mode, without additional data (RFC 9180 6.1). @throws where it is not for `key` */
export async function openSealed(key: KeyObject, { enc, ciphertext, info }: Sealed): Promise<Uint8Array> {
  const recipientKey = await suite.kem.importKey('jwk', key.export({ format: 'jwk' }), false);
  const plaintext = await suite.open(
    { recipientKey, enc: own(enc), info: own(info) },
    own(ciphertext),
    new Uint8Array(),
  );
  return new Uint8Array(plaintext);
}
