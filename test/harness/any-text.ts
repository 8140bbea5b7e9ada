import fc from 'fast-check';

/** Half of a surrogate pair is no character. */
const isCharacter = (codePoint: number): boolean => codePoint < 0xd800 || codePoint > 0xdfff;
const character = fc
  .nat(0x10ffff)
  .filter(isCharacter)
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Any text. The unit `binary` of fast-check does the same, but first sorts all characters, which takes a second. */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...length });
