import { maskSecrets } from './masking.ts';

const longestAddress = 512;
/** The most characters that are searched. There are more of them, because masking removes some. */
const mostSearched = 4 * longestAddress;
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
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD').slice(0, mostSearched);
  const withoutUser = printable.replace(/^(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$<scheme>…@');
  const [withoutFragment = ''] = withoutUser.split('#', 1);
  const masked = withoutFragment.replace(/(?<=\?).*$/s, maskedQuery);
  const shown = maskSecrets(masked);
  return shown.length > longestAddress ? `${shown.slice(0, longestAddress)}…` : shown;
}

/** Removes the query that `maskedAddress` has kept, for roles that see no personal data. */
export const withoutQuery = (address: string): string => address.replace(/\?.*$/s, '?…');
