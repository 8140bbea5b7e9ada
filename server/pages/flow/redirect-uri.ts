/** Returns the character that joins a URI and further query parameters. */
function separatorAfter(uri: string): string {
  if (!uri.includes('?')) return '?';
  return /[?&]$/.test(uri) ? '' : '&';
}

/**
 * Adds parameters to a registered URI. The URI and its query stay unchanged (RFC 6749 3.1.2). A space becomes `%20` and
 * not `+`, because partners may decode the values by `decodeURIComponent`, which leaves a `+` as it is.
 */
export function withQuery(uri: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return uri + separatorAfter(uri) + query.join('&');
}
