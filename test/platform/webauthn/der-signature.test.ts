import { expect, it } from 'vitest';
import { isDerSignature } from '../../../server/platform/webauthn/der-signature.ts';

it.each([
  [true, 'two numbers', '3006020101020102'],
  [true, 'a number with a zero that makes it positive', '300702020080020102'],
  [false, 'a negative number', '3006020180020102'],
  [false, 'a number with a zero that is not needed', '300702020001020102'],
  [false, 'an empty number', '30050200020102'],
  [false, 'one number', '3003020101'],
  [false, 'three numbers', '3009020101020102020103'],
  [false, 'a byte after it', '300602010102010200'],
  [false, 'a byte after it that its length includes', '300702010102010200'],
  [false, 'a length of two bytes', '308106020101020102'],
  [false, 'an indefinite length', '30800201010201020000'],
  [false, 'a number that is cut off', '3006020101020202'],
  [false, 'a set in place of a sequence', '3106020101020102'],
  [false, 'no bytes', ''],
])('isDerSignature is %s for %s', (expected, _what, hex) => {
  expect(isDerSignature(Buffer.from(hex, 'hex'))).toBe(expected);
});
