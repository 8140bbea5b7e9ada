const utf8 = new TextEncoder();

/** The bytes of a text; bytes stay as they are. */
export const bytesOf = (value: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof value === 'string' ? utf8.encode(value) : new Uint8Array(value);

/** Base64 without padding, for addresses (RFC 4648 5). */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** @throws Error where the text is no base64, or bytes have another text */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  if (btoa(binary) !== text) throw new TypeError('the base64 is not canonical');
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The bytes of lower-case hex digits; undefined for anything else. */
export const fromHex = (text: string): Uint8Array<ArrayBuffer> | undefined =>
  /^(?:[0-9a-f]{2})+$/.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined;

/** `length` random bytes, base64url. */
export const randomText = (length: number): string =>
  base64url(crypto.getRandomValues(new Uint8Array(length)));

export const hmacKey = (key: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
