import { createHash, randomBytes } from 'node:crypto';

/** A PKCE pair (RFC 7636) and a state, as a partner's server makes them for each visit. */
export function newVisit() {
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

/** The address to which a partner sends the user's browser (interface 4.1). */
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

interface Redemption {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  code: string;
  codeVerifier: string;
}

/** The form of an exchange at the token endpoint (interface 2.2). */
export const tokenForm = (redemption: Redemption): Record<string, string> => ({
  grant_type: 'authorization_code',
  code: redemption.code,
  client_id: redemption.clientId,
  client_secret: redemption.clientSecret,
  redirect_uri: redemption.redirectUri,
  code_verifier: redemption.codeVerifier,
});
