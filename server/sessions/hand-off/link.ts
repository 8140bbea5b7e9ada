import { bytesOfId, idOfBytes, sha256 } from '../../platform/ids.ts';
import type { PresentedSecret } from '../code.ts';

/** Crockford's base32: no letters that look like digits or like each other. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** The secret has 10 characters, which are 50 bits. They are enough: a link works for two minutes and needs a code too. */
export const secretLength = 10;
/** The session's id has 26 characters, which hold its 128 bits. */
const idLength = 26;
const idBytes = 16;

/** Writes an id in base32: the digits of JavaScript's radix 32, replaced by the characters of `alphabet`. */
function idText(id: Buffer): string {
  const digits = BigInt(`0x${id.toString('hex')}`)
    .toString(32)
    .padStart(idLength, '0');
  return Array.from(digits, (digit) => alphabet.charAt(Number.parseInt(digit, 32))).join('');
}

/** Reverses `idText`. 26 characters can hold 130 bits, so a text can be too large for an id. */
function idFrom(text: string): Buffer | undefined {
  const digits = [...text].map((character) => alphabet.indexOf(character));
  if (digits.length !== idLength || digits.includes(-1)) return undefined;
  const hex = digits.reduce((value, digit) => value * 32n + BigInt(digit), 0n).toString(16);
  return hex.length > 2 * idBytes ? undefined : Buffer.from(hex.padStart(2 * idBytes, '0'), 'hex');
}

/** The token of a link, which is the end of its address: the session's id and a secret. By the id, the session is found. */
export function linkOf(sessionId: string, secret: Uint8Array): string {
  // A byte has 8 × 32 values, so all 32 characters are equally likely.
  const characters = Array.from(secret, (byte) => alphabet.charAt(byte % alphabet.length)).join('');
  const id = bytesOfId('session', sessionId);
  if (!id) throw new Error(`${sessionId} is no id of a session`);
  return idText(id) + characters;
}

/** Normalizes a token that a user typed: case, spaces and dashes do not matter. */
const normalized = (token: string) => token.toLowerCase().replace(/[\s-]/g, '');

/** The hash by which a session finds its link: SHA-256 of the normalized token. */
export const linkHashOf = (token: string): string => sha256(normalized(token));

/** Splits the token of a link, as a phone has opened it or a user has typed it. */
export function presentedLink(token: string): PresentedSecret {
  const text = normalized(token);
  const id = text.length === idLength + secretLength ? idFrom(text.slice(0, idLength)) : undefined;
  return { hash: sha256(text), sessionId: id && idOfBytes('session', id) };
}
