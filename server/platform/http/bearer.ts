/** The token of an `Authorization: Bearer` header (RFC 6750 2.1). Tokens in a query or a body are not accepted. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(?<token>[A-Za-z0-9._~+/=-]+) *$/i.exec(header ?? '')?.groups?.['token'];
}

/**
 * RFC 6750 3.1: the challenge names the error only if a bearer token was sent.
 * @param description printable ASCII without `"` and `\`
 */
export function bearerChallenge(header: string | undefined, description: string): Record<string, string> {
  const isSent = /^bearer\b/i.test(header ?? '');
  const error = isSent ? `, error="invalid_token", error_description="${description}"` : '';
  return { 'www-authenticate': `Bearer realm="svc"${error}` };
}
