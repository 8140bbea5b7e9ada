import type { Access } from '../../../contracts/charge.ts';
import type { UserinfoResponse } from '../../../contracts/oauth.ts';
import { ApiError } from '../../platform/errors.ts';
import { bearerChallenge, bearerToken } from '../../platform/http/bearer.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';
import type { AccessTokens } from './access-token.ts';
import type { FindClient, OAuthClient } from './client-authentication.ts';

interface Dependencies {
  tokens: Pick<AccessTokens, 'verify'>;
  /** Returns an access that the client bought, unless it was revoked. */
  findAccess: (client: OAuthClient, id: string) => Promise<Access | undefined>;
  /** Returns when an access was revoked. Undefined if it was not revoked, or if that was long ago. */
  revokedAt: (id: string) => Promise<Date | undefined>;
  findClient: FindClient;
  limit: RequestLimit;
  clock: { now(): number };
}

/** The default limit of requests per minute and client (docs/choices.md). */
const userinfoRequestsPerMinute = 120;

const unknownToken =
  'The access token is unknown: this service has not issued it, or what it stood for was removed';

/** Describes the mistake in a header that has no token of this service. */
function describeForeign(authorization: string | undefined): string {
  if (!authorization) return 'No Authorization header: send Authorization: Bearer {access token}';
  const token = bearerToken(authorization);
  if (token === undefined) return 'The Authorization header is not of the form Bearer {access token}';
  return describeMistake('The bearer token', token, 'accessToken') ?? unknownToken;
}

/** `GET /api/oauth/userinfo` (interface 4.3): returns the claims as they were when the token was issued. */
export function createUserinfo(dependencies: Dependencies) {
  const { tokens, findAccess, revokedAt, findClient, limit, clock } = dependencies;

  async function requireAllowance(client: OAuthClient): Promise<void> {
    const perMinute = client.userinfoRequestsPerMinute ?? userinfoRequestsPerMinute;
    await limit('userinfo', client._id, { perMinute, refusal: 'Userinfo rate limit exceeded' });
  }

  /** @param identified called with the partner after the token was verified. It may refuse the request */
  return async (
    authorization: string | undefined,
    identified?: (partnerId: string) => Promise<void>,
  ): Promise<UserinfoResponse> => {
    const refusal = (description: string) =>
      new ApiError('invalid_token', { description, headers: bearerChallenge(authorization, description) });
    const expired = (at: Date) => refusal(`The access token expired at ${at.toISOString()}`);

    const token = bearerToken(authorization);
    const verified = token === undefined ? undefined : await tokens.verify(token);
    if (!verified) throw refusal(describeForeign(authorization));
    if (verified.isExpired) throw expired(verified.expiresAt);
    const found = await findClient(verified.clientId);
    if (!found) throw refusal(unknownToken);
    await identified?.(found.partner._id);

    const [access] = await Promise.all([
      findAccess(found.client, verified.id),
      requireAllowance(found.client),
    ]);
    // The charges of other endpoints have no token, so a token with the id of such a charge is unknown.
    if (access?.kind !== 'token') {
      const at = await revokedAt(verified.id);
      throw refusal(at ? `The access token was revoked at ${at.toISOString()}` : unknownToken);
    }
    // The expiry of the token was checked before the reads, which take time.
    if (access.expiresAt.getTime() <= clock.now()) throw expired(access.expiresAt);
    const { sub, at, claims, meta } = access;
    return { sub, evaluated_at: at.toISOString(), claims, meta };
  };
}
