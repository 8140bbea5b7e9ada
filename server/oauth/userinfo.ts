import type { Access } from '../../contracts/charge.ts';
import type { UserinfoResponse } from '../../contracts/oauth.ts';
import { ApiError } from '../platform/errors.ts';
import type { RequestLimit } from '../platform/request-limits.ts';
import type { AccessTokens } from './access-token.ts';
import type { FindClient, OAuthClient } from './client-authentication.ts';

interface Dependencies {
  tokens: Pick<AccessTokens, 'verify'>;
  /** An access that was not revoked, by the client that bought it. */
  findAccess: (client: OAuthClient, id: string) => Promise<Access | undefined>;
  findClient: FindClient;
  limit: RequestLimit;
  clock: { now(): number };
}

/** Requests a minute per client (docs/choices.md). */
const userinfoRequestsPerMinute = 120;

/** RFC 6750 3.1: the challenge names the error only if a bearer token was sent. */
function refusal(authorization: string | undefined): ApiError {
  const sent = /^bearer\b/i.test(authorization ?? '');
  const challenge = sent ? 'Bearer realm="svc", error="invalid_token"' : 'Bearer realm="svc"';
  return new ApiError('invalid_token', { headers: { 'www-authenticate': challenge } });
}

/** The token of an `Authorization: Bearer` header; one in a query or a body is never looked for. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header ?? '')?.[1];
}

/** `GET /api/oauth/userinfo` (interface 4.3): the claims as they were when the token was issued. */
export function createUserinfo({ tokens, findAccess, findClient, limit, clock }: Dependencies) {
  async function requireAllowance(client: OAuthClient): Promise<void> {
    const max = client.userinfoRequestsPerMinute ?? userinfoRequestsPerMinute;
    const { allowed, retryAfter } = await limit('userinfo', client._id, max);
    if (!allowed) {
      throw new ApiError('rate_limited', { description: 'Userinfo rate limit exceeded', retryAfter });
    }
  }

  /** `identified` is called with the partner, once the token is known to be ours. It may refuse the request. */
  return async (
    authorization: string | undefined,
    identified?: (partnerId: string) => Promise<void>,
  ): Promise<UserinfoResponse> => {
    const token = bearerToken(authorization);
    const verified = token && (await tokens.verify(token));
    const found = verified ? await findClient(verified.clientId) : undefined;
    if (!verified || !found) throw refusal(authorization);
    await identified?.(found.partner._id);

    const [access] = await Promise.all([
      findAccess(found.client, verified.id),
      requireAllowance(found.client),
    ]);
    if (access?.kind !== 'token' || access.expiresAt.getTime() <= clock.now()) throw refusal(authorization);
    const { sub, at, claims, meta } = access;
    return { sub, evaluated_at: at.toISOString(), claims, meta };
  };
}
