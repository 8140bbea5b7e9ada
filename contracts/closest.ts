/** Returns how many edits still count as a typing error: at most 3, and at most half of the letters. */
const mostEdits = (typed: string): number => Math.min(3, Math.floor(typed.length / 2));

/** Returns the number of letters to insert, delete or replace between two words (Levenshtein distance). */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Returns the known word that was probably meant by `typed`; undefined if none is close. */
export function closest(typed: string, known: Iterable<string>): string | undefined {
  const ranked = [...known]
    .map((word) => ({ word, edits: distance(typed, word) }))
    .filter(({ edits }) => edits <= mostEdits(typed))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.word;
}
