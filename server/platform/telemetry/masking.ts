import { secretPrefixes } from '../../../contracts/identifiers.ts';

/** Matches our secrets by their prefixes, and JSON Web Tokens, which begin with `eyJ`. */
const secret = new RegExp(`(${Object.values(secretPrefixes).join('|')}|eyJ)[\\w.~-]+`, 'g');

const hidden = (text: string) => text.replace(secret, '$1…');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // It has a percent sign that is no escape, so it is not encoded.
  }
}

/**
 * Removes secrets from a text of a caller, except their prefixes. Recognises percent-encoded prefixes too. A text without
 * secrets stays as it was sent.
 */
export function maskSecrets(text: string): string {
  const plain = decoded(text);
  const masked = hidden(plain);
  return masked === plain ? text : masked;
}
