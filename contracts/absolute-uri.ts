import { z } from 'zod';

/** Characters that RFC 3986 does not allow unencoded. Browsers and proxies read them differently, and headers cannot hold them. */
const unsafeCharacter = /[^\x21-\x7e]|[\\"<>^`{|}]/;
const malformedEscape = /%(?![\da-f]{2})/i;
/** The parts before the path. The URL parser also accepts `https:example.com`, `https:///example.com` and an empty port. */
const beginning = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<authority>[^/?#]*)/i;
const authorityForm = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?::(?<port>\d+))?$/;
/** Host names of RFC 1123. */
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Hosts that the URL standard reads as an IPv4 address: those whose last part is a decimal or hexadecimal number. */
const numericHost = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

const highestPort = 65_535;

const isIPv4 = (text: string) => z.ipv4().safeParse(text).success;

/** Why parsers may read a host differently; undefined if all read it alike. */
function hostFault(host: string, url: URL): string | undefined {
  if (host === '') return 'must name a host';
  if (host.includes('*')) return 'must not have a wildcard in the host';
  const isNumeric = numericHost.test(host);
  if (isNumeric && !isIPv4(host)) return 'must name an IPv4 address by four decimal numbers';
  if (!host.startsWith('[') && !isNumeric && !hostName.test(host))
    return 'must have a host of letters, digits, - and . only; write other scripts in Punycode (xn--…)';
  // The parser has other names for hosts in percent-encoding and for IPv6 addresses that are not in their shortest form.
  if (url.hostname !== host.toLowerCase()) return `must name the host as ${url.hostname}`;
  return undefined;
}

/**
 * Returns why a text is not an absolute URI that every program reads alike: `scheme://host`, an optional port, path and query,
 * without a user name and without a fragment. The text is stored and compared byte for byte, so it is not normalised.
 */
export function absoluteUriFault(text: string): string | undefined {
  if (unsafeCharacter.test(text))
    return 'must be ASCII without spaces, quotes, backslashes or control characters; percent-encode others';
  if (malformedEscape.test(text)) return 'must have two hexadecimal digits after each %';
  const { authority } = beginning.exec(text)?.groups ?? {};
  if (authority?.includes('@')) return 'must not have a user name or password';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const { host, port } = authorityForm.exec(authority ?? '')?.groups ?? {};
  if (port !== undefined && (port.startsWith('0') || Number(port) > highestPort))
    return `must have a port from 1 to ${highestPort}, without leading zeros`;
  if (!url || host === undefined || host === '') {
    return 'must be an absolute URI such as https://example.com/callback, with a host of letters, digits, - and .';
  }
  if (text.includes('#')) return 'must not have a fragment';
  return hostFault(host, url);
}
