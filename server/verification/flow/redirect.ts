import { describeReason, type Reason, reasons } from '../../../contracts/reasons.ts';

/**
 * Adds parameters to a registered URI. Its own bytes stay as they are, a query that it has included
 * (RFC 6749 3.1.2); values are percent-encoded so that both form decoders and `decodeURIComponent` give them back.
 */
function withQuery(uri: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return uri + separator + query.join('&');
}

interface Return {
  redirectUri: string;
  /** Sent back as it came. */
  state: string;
  /** RFC 9207: who answers, so that a client of several servers cannot be confused. */
  issuer: string;
}

export function successRedirect({ redirectUri, state, issuer }: Return, code: string): string {
  return withQuery(redirectUri, { code, state, iss: issuer });
}

/** The redirect of a session that ends without a code (interface 7.3). */
export function errorRedirect({ redirectUri, state, issuer }: Return, reason: Reason): string {
  const { error } = reasons[reason];
  return withQuery(redirectUri, { error, error_description: describeReason(reason), state, iss: issuer });
}

/**
 * Where the browser may be sent at the end: never to a URI that is not registered now.
 * @returns the session's own URI while it is registered, else the client's first one, else undefined
 */
export function redirectTarget(
  redirectUri: string,
  registered: readonly string[],
): { uri: string; own: boolean } | undefined {
  if (registered.includes(redirectUri)) return { uri: redirectUri, own: true };
  const [first] = registered;
  return first === undefined ? undefined : { uri: first, own: false };
}
