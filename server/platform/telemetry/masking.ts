import { secretPrefixes } from '../../../contracts/identifiers.ts';

/** A secret of ours from its prefix on; a JSON Web Token begins with `eyJ`. */
const secret = new RegExp(`(${Object.values(secretPrefixes).join('|')}|eyJ)[\\w.~-]+`, 'g');

const hidden = (text: string) => text.replace(secret, '$1…');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `text` with what follows a secret's prefix left out, percent-encoded prefixes too. For text that callers choose. */
export function maskSecrets(text: string): string {
  const plain = decoded(text);
  const masked = hidden(plain);
  return masked === plain ? text : masked;
}
