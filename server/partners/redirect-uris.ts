import type { Mode } from '../../contracts/identifiers.ts';

const loopback = new Set(['localhost', '127.0.0.1']);
/** Characters that RFC 3986 does not allow unencoded. Browsers and proxies read them differently, and headers cannot hold them. */
const unsafeCharacter = /[^\x21-\x7e]|\\/;
/** A scheme, `://` and the beginning of a host. The parser also accepts `https:example.com` and `https:///example.com`. */
const schemeAndHost = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i;
/** An `@` before the path. The parser does not report an empty user name, as in `https://@example.com`. */
const userInfo = /^[^/?]*:\/\/[^/?]*@/;

/**
 * Returns why `uri` may not be registered for a client of this mode; undefined if it may (docs/choices.md).
 * Redirect URIs are stored and compared byte for byte, so the URI is not normalised.
 */
export function redirectUriFault(uri: string, mode: Mode): string | undefined {
  if (unsafeCharacter.test(uri))
    return 'must be ASCII without spaces, backslashes or control characters; percent-encode others';
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url || !schemeAndHost.test(uri)) return 'must be an absolute URI such as https://example.com/callback';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username || url.password || userInfo.test(uri)) return 'must not have a user name or password';
  if (url.protocol === 'https:') return undefined;
  if (mode === 'live') return 'must be https for a live client';
  if (url.protocol === 'http:' && loopback.has(url.hostname)) return undefined;
  return 'must be https, or http://localhost or http://127.0.0.1 for a test client';
}
