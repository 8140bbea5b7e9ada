import type { IncomingHttpHeaders } from 'node:http';

/** Characters of a header that are read. */
const longest = 512;
/** Access tokens and form-encoded credentials are longer. */
const longestOf: Readonly<Record<string, number>> = { authorization: 4096 };

/** Our own cookies that are read; a browser sends at most three of them to one path. */
const mostCookies = 16;

/** Only cookies of ours: those of other applications on this host are not parsed. */
function ownCookies(header: string): string {
  return header
    .split(';')
    .filter((pair) => pair.split('=', 1)[0]?.includes('svc_'))
    .slice(0, mostCookies)
    .map((pair) => pair.slice(0, longest))
    .join(';');
}

/** The end of a list: the entries there were added by our own proxies. */
function endOfList(header: string): string {
  const end = header.slice(-longest);
  return end.slice(end.indexOf(',') + 1);
}

/**
 * Cuts every header to the length that is useful, in place, before any pattern or parser reads it.
 * This bounds the cost of an unauthenticated request.
 */
export function boundHeaders(headers: IncomingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    if (name === 'cookie') headers[name] = ownCookies(value);
    else if (value.length <= (longestOf[name] ?? longest)) continue;
    else if (name === 'x-forwarded-for') headers[name] = endOfList(value);
    else headers[name] = value.slice(0, longestOf[name] ?? longest);
  }
}
