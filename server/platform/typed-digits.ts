/** The value of a decimal digit of any script. Unicode has the digits of each script in a row, from zero to nine. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  // Rows of several scripts or styles can follow each other without a gap.
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}

/** Writes the decimal digits of a typed text in ASCII. Keyboards of many languages type others, such as `٣` for 3. */
export const withAsciiDigits = (typed: string): string =>
  typed.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));

/** The digits of a typed text, in ASCII. Spaces, dashes and words do not matter. */
export const digitsIn = (typed: string): string => withAsciiDigits(typed).replace(/\D/g, '');
