import measure from 'fast-string-width';

/** The columns of a terminal that a text takes: two for an emoji or a character of Chinese, none for a combining letter. */
export const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : measure(text));

/** Appends spaces, so that a text takes `width` columns. */
export const padTo = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** The characters of a text as a reader counts them, such as a letter with its accents. */
const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);

/** The first of these characters that fit into `width` columns together. */
function takeFitting(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += widthOf(character);
    return used > width;
  });
  return characters.slice(0, end === -1 ? undefined : end);
}

/** The longest beginning of a text that fits into `width` columns. */
export const beginningOf = (text: string, width: number): string =>
  takeFitting(charactersOf(text), width).join('');

/** The longest end of a text that fits into `width` columns. */
export const endOf = (text: string, width: number): string =>
  takeFitting(charactersOf(text).toReversed(), width).toReversed().join('');
