const utf8 = new TextEncoder();

/** Encodes a text as UTF-8, or copies bytes. The copy is in memory that Web Crypto accepts, which is not shared. */
export const bytesOf = (value: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof value === 'string' ? utf8.encode(value) : new Uint8Array(value);

/** Base64 without padding, for addresses (RFC 4648 5). */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** Decodes base64. @throws Error if the text is not base64, or is not the one canonical text of its bytes */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  if (btoa(binary) !== text) throw new TypeError('the base64 is not canonical');
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The bytes of an even number of hex digits. */
export const fromHex = (digits: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Makes random bytes, as base64url. */
export const randomText = (bytes: number): string => base64url(crypto.getRandomValues(new Uint8Array(bytes)));

export const hmacKey = (key: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
