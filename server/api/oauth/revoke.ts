import type { RevokeRequest } from '../../../contracts/oauth.ts';
import type { AccessTokens } from './access-token.ts';
import type { ClientAuthentication, Credentials } from './client-authentication.ts';

interface Dependencies {
  clients: Pick<ClientAuthentication, 'authenticate' | 'admit'>;
  tokens: Pick<AccessTokens, 'verify'>;
  /** Revokes an access. Idempotent. */
  revoke: (accessId: string) => Promise<void>;
}

/**
 * `POST /api/oauth/revoke` (interface 4.4, RFC 7009): a client revokes one of its tokens. For a token that is unknown, expired,
 * revoked or of another client, nothing changes and the response is the same.
 */
export function createRevocation({ clients, tokens, revoke }: Dependencies) {
  return async (request: RevokeRequest, credentials: Credentials): Promise<void> => {
    const { client } = await clients.authenticate(credentials);
    // Counts the request against the limit of the client, and refuses a client whose API key is revoked.
    await clients.admit(client);
    const token = await tokens.verify(request.token);
    if (token?.clientId === client._id && !token.isExpired) await revoke(token.id);
  };
}
