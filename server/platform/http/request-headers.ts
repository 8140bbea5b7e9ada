import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const maxLength = 512;
/** Headers with another limit: access tokens and form-encoded credentials are longer. */
const maxLengthOf: Readonly<Record<string, number>> = { authorization: 4096 };

/** The most of our cookies that are read. A browser sends at most three of them to one path. */
const mostCookies = 16;

/**
 * Keeps only our own cookies, which have `svc_` in their names. Those of other applications on this host are not parsed. Ours
 * are shorter than the limit, so only a cookie that is not valid anyway is cut.
 */
function ownCookies(header: string): string {
  return header
    .split(';')
    .filter((pair) => pair.split('=', 1)[0]?.includes('svc_'))
    .slice(0, mostCookies)
    .map((pair) => pair.slice(0, maxLength))
    .join(';');
}

/** Cuts a long list. Our own proxies add their entries at its end, so the end stays. An incomplete first entry is removed. */
function endOfList(header: string): string {
  if (header.length <= maxLength) return header;
  const end = header.slice(-maxLength);
  return end.slice(end.indexOf(',') + 1);
}

/** An address with a port, in brackets or in quotes, as some proxies write it: `192.0.2.1:40001`, `"[2001:db8::1]:443"`. */
const addressWithPort = /^"?(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[^:"]+))(?::\d*)?"?$/;

/** An entry of X-Forwarded-For as a plain address. Any other text stays as it is, and is then no address. */
function plainAddress(entry: string): string {
  const { ipv4, ipv6 } = addressWithPort.exec(entry.trim())?.groups ?? {};
  const address = ipv4 ?? ipv6;
  return address !== undefined && isIP(address) > 0 ? address : entry.trim();
}

/**
 * Cuts every header to a useful length, in place, before any pattern or parser reads it. This limits the cost of an
 * unauthenticated request. Addresses of X-Forwarded-For lose their ports.
 */
export function boundHeaders(headers: IncomingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') headers[name] = boundedValue(name, value);
  }
}

function boundedValue(name: string, value: string): string {
  if (name === 'cookie') return ownCookies(value);
  if (name === 'x-forwarded-for') return endOfList(value).split(',').map(plainAddress).join(', ');
  return value.slice(0, maxLengthOf[name] ?? maxLength);
}
