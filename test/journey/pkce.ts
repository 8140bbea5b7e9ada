import { createHash, randomBytes } from 'node:crypto';

/** Creates a PKCE pair (RFC 7636) and a state, as a partner's server does for each session. */
export function newStart() {
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  return { codeVerifier, codeChallenge, state: randomBytes(16).toString('base64url') };
}

interface StartParameters {
  baseUrl: string;
  clientId: string;
  redirectUri: string;
  scope: string;
  state: string;
  codeChallenge: string;
}

/** Returns the address to which a partner sends the user's browser (interface 4.1). */
export function startUrl({
  baseUrl,
  clientId,
  redirectUri,
  scope,
  state,
  codeChallenge,
}: StartParameters): string {
  const url = new URL('/verify/start', baseUrl);
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}

interface Exchange {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  code: string;
  codeVerifier: string;
}

/** Returns the form of an exchange at the token endpoint (interface 2.2). */
export const tokenForm = (exchange: Exchange): Record<string, string> => ({
  grant_type: 'authorization_code',
  code: exchange.code,
  client_id: exchange.clientId,
  client_secret: exchange.clientSecret,
  redirect_uri: exchange.redirectUri,
  code_verifier: exchange.codeVerifier,
});
