import { type Grant, grantedScope } from '../../contracts/grant.ts';
import type { TokenRequest } from '../../contracts/oauth.ts';
import { ApiError } from '../platform/errors.ts';
import { sameText, sha256 } from '../platform/ids.ts';
import type { OAuthClient } from './client-authentication.ts';

/** The fifth wrong verifier uses a code up (decisions.md). */
export const largestWrongVerifiers = 5;

const invalidGrant = (description: string) => new ApiError('invalid_grant', { description });

/** Interface 7.4: unknown, another client's, dead or expired codes. */
export function requireOwnCode(grant: Grant | undefined, client: OAuthClient): Grant {
  if (!grant || grant.clientId !== client._id)
    throw invalidGrant('Unknown authorization code for this client');
  if (client.kind !== 'oauth') {
    throw invalidGrant('Codes of a storefront client are exchanged at the storefront endpoint');
  }
  return grant;
}

export function requireLive(grant: Grant, now: number): void {
  if (grant.wrongVerifiers >= largestWrongVerifiers)
    throw invalidGrant('Too many wrong code_verifiers for this code');
  if (grant.expiresAt.getTime() <= now) throw invalidGrant('The authorization code has expired');
}

/** Byte for byte, including a trailing slash (interface 2.2). */
export function requireSameRedirect(grant: Grant, request: TokenRequest): void {
  if (grant.redirectUri !== request.redirect_uri) throw new ApiError('invalid_redirect_uri');
}

/** RFC 7636 4.6, S256. */
export function verifierMatches(grant: Grant, request: TokenRequest): boolean {
  return sameText(sha256(request.code_verifier), grant.codeChallenge);
}

/** The client may have lost a claim between start and exchange. */
export function requirePermittedScope(grant: Grant, client: OAuthClient): void {
  const lost = grantedScope(grant).filter((name) => !client.claims.includes(name));
  if (lost.length === 0) return;
  throw new ApiError('invalid_scope', {
    description: `This client may no longer ask for ${lost.join(', ')}`,
  });
}

export function requireActiveEnrollment(grant: Grant): void {
  if (grant.enrollment.status !== 'active') throw new ApiError('access_denied');
}
