import { randomBytes } from 'node:crypto';
import { hmac, sameText } from '../ids.ts';

/** A token for one form of one page, good for as long as the browser's secret is. */
export function issueToken(browserSecret: string): string {
  const nonce = randomBytes(16).toString('base64url');
  return `${nonce}.${mac(browserSecret, nonce)}`;
}

export function isTokenOf(browserSecret: string, token: string): boolean {
  const [nonce = '', given = ''] = token.split('.', 2);
  return sameText(given, mac(browserSecret, nonce));
}

function mac(browserSecret: string, nonce: string): string {
  return hmac(Buffer.from(browserSecret), `csrf.${nonce}`);
}

interface Provenance {
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Whether a form can have come from our own page, by what browsers say of themselves. Programs that send
 * neither header have no ambient cookies to abuse; for them the token decides alone.
 */
export function isOwnOrigin({ origin, 'sec-fetch-site': site }: Provenance, ownOrigin: string): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin === ownOrigin;
}
