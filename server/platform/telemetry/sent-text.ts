import { maskSecrets } from './masking.ts';

/** Characters of an address that are kept. */
const longestAddress = 512;
/** Query values that may be kept: short words and numbers. Others may tell of a person. */
const plainValue = /^[\w.-]{0,32}$/;

const maskedValue = (value: string): string =>
  plainValue.test(value) && maskSecrets(value) === value ? value : '…';

/** The query with the names of its parameters, and those values that tell of no person. */
const maskedQuery = (query: string): string =>
  query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? maskedValue(pair) : `${pair.slice(0, at)}=${maskedValue(pair.slice(at + 1))}`;
    })
    .join('&');

/**
 * An address as others sent it, to compare with another: without user, fragment, secrets and values of the query that may
 * tell of a person, at most 512 characters, and without control characters.
 */
export function maskedAddress(text: string): string {
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD').slice(0, 4 * longestAddress);
  const [, beforeUser = '', rest = printable] =
    /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@(.*)$/is.exec(printable) ?? [];
  const [address = ''] = `${beforeUser}${beforeUser ? '…@' : ''}${rest}`.split('#', 1);
  const at = address.indexOf('?');
  const masked = at === -1 ? address : `${address.slice(0, at)}?${maskedQuery(address.slice(at + 1))}`;
  const shown = maskSecrets(masked);
  return shown.length > longestAddress ? `${shown.slice(0, longestAddress)}…` : shown;
}

/** An address without the values that `maskedAddress` kept, for those who see no personal data. */
export const withoutQuery = (address: string): string => address.replace(/\?.*$/s, '?…');
