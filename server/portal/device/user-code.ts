import { randomInt } from 'node:crypto';
import { keyed } from '../../platform/ids.ts';

/** Consonants: no words come of them, and none looks like another or like a digit (RFC 8628 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;

/** `WDJBMJHT`: 34 random bits. */
export const randomUserCode = (): string =>
  Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');

/** `WDJB-MJHT`. */
export const shownUserCode = (code: string): string =>
  `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;

/** What a person typed as a code: case, spaces and dashes do not matter. Undefined for any other text. */
export function readUserCode(typed: string): string | undefined {
  const code = typed.slice(0, 64).toUpperCase().replace(/[\s-]/g, '');
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : undefined;
}

/** How a code is kept: without the key, all codes could be tried against it. */
export const userCodeDigest = (key: Uint8Array, code: string): string =>
  keyed(key, ['user code', code]).toString('base64url');
