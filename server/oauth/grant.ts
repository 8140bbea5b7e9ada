import { type Grant, grantedScope } from '../../contracts/grant.ts';
import type { TokenRequest } from '../../contracts/oauth.ts';
import { ApiError } from '../platform/errors.ts';
import { sameText, sha256 } from '../platform/ids.ts';
import type { OAuthClient } from './client-authentication.ts';

/** Five wrong verifiers invalidate a code. */
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

/** RFC 7636 4.6, S256. */
function verifierMatches(grant: Grant, request: TokenRequest): boolean {
  return sameText(sha256(request.code_verifier), grant.codeChallenge);
}

/**
 * The fault of an unused code, in the order of docs/tokens-and-claims.md; undefined where it may be exchanged.
 * @param client as it is now: it may have lost a claim since the start
 * @param now milliseconds
 */
export function codeFault(
  grant: Grant,
  request: TokenRequest,
  { client, now }: { client: OAuthClient; now: number },
): ApiError | 'wrong verifier' | undefined {
  if (grant.wrongVerifiers >= largestWrongVerifiers)
    return invalidGrant('Too many wrong code_verifiers for this code');
  if (grant.expiresAt.getTime() <= now) return invalidGrant('The authorization code has expired');
  // Byte for byte, including a trailing slash (interface 2.2).
  if (grant.redirectUri !== request.redirect_uri) return new ApiError('invalid_redirect_uri');
  if (!verifierMatches(grant, request)) return 'wrong verifier';
  const lost = grantedScope(grant).filter((name) => !client.claims.includes(name));
  if (lost.length > 0) {
    return new ApiError('invalid_scope', {
      description: `This client may no longer ask for ${lost.join(', ')}`,
    });
  }
  return grant.enrollment.status === 'active' ? undefined : new ApiError('access_denied');
}
