import { maskSecrets } from './masking.ts';

/** The most characters of an address that are kept. */
const longestAddress = 512;
/** Query values that may be kept: short words and numbers. Others may be personal data. */
const plainValue = /^[\w.-]{0,32}$/;

const maskedValue = (value: string): string =>
  plainValue.test(value) && maskSecrets(value) === value ? value : '…';

/** Keeps the names of a query's parameters, and only values that cannot be personal data. */
const maskedQuery = (query: string): string =>
  query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? maskedValue(pair) : `${pair.slice(0, at)}=${maskedValue(pair.slice(at + 1))}`;
    })
    .join('&');

/**
 * Masks an address that others have sent: removes user, fragment, secrets, personal query values and control characters.
 * At most 512 characters are kept, which is enough for a comparison with a registered address.
 */
export function maskedAddress(text: string): string {
  // More characters are searched than are kept, because masking removes some.
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD').slice(0, 4 * longestAddress);
  const withoutUser = printable.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1…@');
  const [address = ''] = withoutUser.split('#', 1);
  const [beforeQuery = ''] = address.split('?', 1);
  const hasQuery = beforeQuery.length < address.length;
  const masked = hasQuery ? `${beforeQuery}?${maskedQuery(address.slice(beforeQuery.length + 1))}` : address;
  const shown = maskSecrets(masked);
  return shown.length > longestAddress ? `${shown.slice(0, longestAddress)}…` : shown;
}

/** Removes the query that `maskedAddress` has kept, for roles that see no personal data. */
export const withoutQuery = (address: string): string => address.replace(/\?.*$/s, '?…');
