/** Edits that still look like a typing error: few, and not most of the word. */
const mostEdits = (typed: string): number => Math.min(3, Math.floor(typed.length / 2));

/** Letters to insert, delete or replace between two words (Levenshtein). */
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

/** The one of `known` that `typed` was probably meant to be. */
export function closest(typed: string, known: Iterable<string>): string | undefined {
  const ranked = [...known]
    .map((word) => ({ word, edits: distance(typed, word) }))
    .filter(({ edits }) => edits <= mostEdits(typed))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.word;
}
