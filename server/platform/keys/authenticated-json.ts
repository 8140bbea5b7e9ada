import { hmac, sameText } from '../ids.ts';

/** The length of an HMAC-SHA256 in base64url. */
const macLength = 43;

/** Whether a text has the form of a sealed one, which costs less to see than its HMAC. */
const isSealed = (text: string): boolean => /^[\w-]{43}\{/.test(text) && text.endsWith('}');

/** Returns the HMAC-SHA256 of a value's JSON, followed by the JSON. */
export function seal(key: Uint8Array, value: object): string {
  const json = JSON.stringify(value);
  return hmac(key, json) + json;
}

/** Returns the value in a sealed text. Undefined if the text was not sealed with this key. */
export function open<T extends object>(key: Uint8Array, sealed: string): T | undefined {
  if (!isSealed(sealed)) return undefined;
  const json = sealed.slice(macLength);
  return sameText(hmac(key, json), sealed.slice(0, macLength)) ? (JSON.parse(json) as T) : undefined;
}
