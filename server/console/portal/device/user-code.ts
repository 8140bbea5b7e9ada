import { randomInt } from 'node:crypto';
import { keyed } from '../../../platform/ids.ts';

/** Only consonants, so that no words appear, and without letters that look alike (RFC 8628 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;
const codePattern = new RegExp(`^[${letters}]{${length}}$`);

/** A code such as `WDJBMJHT`, with 34 random bits. */
export const randomUserCode = (): string =>
  Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');

/** A code as it is shown: `WDJB-MJHT`. */
export const shownUserCode = (code: string): string =>
  `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;

/** Reads a typed code; case, spaces and dashes do not matter. Undefined for any other text. */
export function readUserCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[\s-]/g, '');
  return codePattern.test(code) ? code : undefined;
}

/** The stored digest of a code. It is keyed: a plain hash of so short a code could be reversed by trying all codes. */
export const userCodeDigest = (key: Uint8Array, code: string): string =>
  keyed(key, ['user code', code]).toString('base64url');
