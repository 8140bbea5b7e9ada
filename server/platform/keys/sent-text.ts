import { secretPrefixes } from '../../../contracts/identifiers.ts';

/** Longer texts are cut, because a refusal should not repeat a whole request. */
const maxLength = 120;
/** The most characters that are searched. There are more of them, because a masked secret is shorter. */
const mostSearched = 2 * maxLength;
/** Matches our secrets by their prefixes, and JSON Web Tokens, which begin with `eyJ`. */
const secrets = new RegExp(
  `(?<prefix>${[...Object.values(secretPrefixes), 'eyJ'].join('|')})[\\w.~+/=-]*`,
  'g',
);
/** Matches the characters that RFC 6749 5.2 forbids in descriptions: all but printable ASCII, the quotation mark, the backslash. */
const forbidden = /[^\x20-\x7e]|["\\]/g;

/** Returns at most 120 characters of a text that a test client sent, to be shown in the refusal. Secrets are removed. */
export function showSent(text: string): string {
  const shown = text.slice(0, mostSearched).replace(secrets, '$<prefix>...').replace(forbidden, '?');
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}...` : shown;
}

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
