import { secretPrefixes } from '../../../contracts/identifiers.ts';

/** Longer texts are cut, because a refusal should not repeat a whole request. */
const maxLength = 120;
/** Matches our secrets by their prefixes, and JSON Web Tokens, which begin with `eyJ`. */
const secrets = new RegExp(`(${[...Object.values(secretPrefixes), 'eyJ'].join('|')})[\\w.~+/=-]*`, 'g');

/**
 * A text that a caller sent, for a refusal of a test client. It has at most 120 characters, and only those that RFC 6749 5.2
 * allows in descriptions. Secrets are removed.
 */
export function showSent(text: string): string {
  const shown = text
    .slice(0, 2 * maxLength) // More than is shown, because a masked secret is shorter. The rest need not be searched.
    .replace(secrets, '$1...')
    .replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}...` : shown;
}

/** Length of the common beginning of two texts. */
function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** The text of `known` that has the longest common beginning with `sent`, in any case. */
export function nearestOf(sent: string, known: readonly string[]): string | undefined {
  const lower = sent.toLowerCase();
  const scored = known.map((text) => ({ text, common: commonStart(lower, text.toLowerCase()) }));
  return scored.sort((a, b) => b.common - a.common)[0]?.text;
}
