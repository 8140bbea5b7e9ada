import type { FailureReason } from '../../contracts/verification.ts';

/** Interface 7.3, the ones that travel in a redirect. */
export type RedirectError =
  | 'access_denied'
  | 'verification_failed'
  | 'session_expired'
  | 'invalid_redirect_uri';

const descriptions: Record<RedirectError, string> = {
  access_denied: 'The user declined to share the claims',
  verification_failed: 'The user cancelled, or the verification failed',
  session_expired: 'The session was not completed within 30 minutes',
  invalid_redirect_uri: 'The redirect_uri of this session is no longer registered',
};

export function errorOfFailure(reason: FailureReason): RedirectError {
  return reason === 'consent_declined' ? 'access_denied' : 'verification_failed';
}

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

export function errorRedirect({ redirectUri, state, issuer }: Return, error: RedirectError): string {
  return withQuery(redirectUri, { error, error_description: descriptions[error], state, iss: issuer });
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
