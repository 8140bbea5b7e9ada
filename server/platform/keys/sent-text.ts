import { secretPrefixes } from '../../../contracts/identifiers.ts';

/** Longer texts are cut: a refusal is no echo of a whole request. */
const longest = 120;
const secrets = new RegExp(`(${[...Object.values(secretPrefixes), 'eyJ'].join('|')})[\\w.~+/=-]*`, 'g');

/**
 * What a caller sent, for a refusal of a test client: printable ASCII without the characters that RFC 6749 5.2 keeps out of
 * descriptions, without secrets, and not longer than 120 characters.
 */
export function showSent(text: string): string {
  const shown = text
    .slice(0, 2 * longest)
    .replace(secrets, '$1...')
    .replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
  return shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
}

/** Length of what two texts have in common at their beginning. */
function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** The text of `known` that begins most like `sent`. Takes time in proportion to the lengths. */
export function nearestOf(sent: string, known: readonly string[]): string | undefined {
  const lower = sent.toLowerCase();
  const scored = known.map((text) => ({ text, common: commonStart(lower, text.toLowerCase()) }));
  return scored.sort((a, b) => b.common - a.common)[0]?.text;
}
