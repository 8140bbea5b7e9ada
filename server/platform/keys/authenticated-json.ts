import { hmac, sameText } from '../ids.ts';

/** Returns the HMAC-SHA256 of a value's JSON, followed by the JSON. */
export function seal(key: Uint8Array, value: object): string {
  const json = JSON.stringify(value);
  return hmac(key, json) + json;
}

/** Returns the value in a sealed text. Undefined if the text was not sealed with this key. */
export function open<T extends object>(key: Uint8Array, sealed: string): T | undefined {
  // The HMAC is in base64url, which has no brace, so the first brace begins the JSON.
  const json = sealed.slice(sealed.indexOf('{'));
  return sameText(hmac(key, json) + json, sealed) ? (JSON.parse(json) as T) : undefined;
}
