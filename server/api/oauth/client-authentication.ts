import type { ClaimName } from '../../../contracts/claims.ts';
import type { ExchangingClient } from '../../../contracts/grant.ts';
import type { Client } from '../../partners/clients/client-store.ts';
import type { Reading } from '../../partners/directory/directory.ts';
import type { Partner } from '../../partners/partner-store.ts';
import { ApiError } from '../../platform/errors.ts';
import { subscriberOf } from '../../platform/http/limits/client-network.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';

/** The fields of a client that the OAuth endpoints need. */
export type OAuthClient = Pick<
  Client,
  | keyof ExchangingClient
  | 'status'
  | 'secrets'
  | 'claims'
  | 'idTokenAlg'
  | 'tokenRequestsPerMinute'
  | 'userinfoRequestsPerMinute'
>;
/** The fields of a partner that the OAuth endpoints need. */
export type OAuthPartner = Pick<Partner, '_id' | 'status' | 'prices'>;

export interface Authenticated {
  client: OAuthClient;
  partner: OAuthPartner;
}

/** Finds a client and its partner in a cache that is at most 2 s old, or in the database, as the options say. */
export type FindClient = (id: string, options?: Reading<Authenticated>) => Promise<Authenticated | undefined>;

interface Dependencies {
  findClient: FindClient;
  /** Whether the secret is valid for the client now. The comparison takes constant time. */
  secretMatches: (client: OAuthClient, secret: string) => boolean;
  keyStatus: (keyId: string) => Promise<'active' | 'revoked' | undefined>;
  limit: RequestLimit;
}

export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** Whether the credentials were in a Basic header, not in the body. This decides the form of a 401. */
  basic: boolean;
  address: string;
  /** Called with the partner after the secret was found correct. It may refuse the request. */
  identified?: (partnerId: string) => Promise<void>;
}

/** How many wrong secrets a minute, per client id and address, get a 401 before the response is 429. */
const wrongSecretsPerMinute = 20;
/** The default limit of token requests per client (interface section 8). */
const tokenRequestsPerMinute = 30;

/** The header of a 401 to a request with an `Authorization` header (RFC 6749 5.2). */
export const basicChallenge = { 'www-authenticate': 'Basic realm="svc", charset="UTF-8"' };

/** Checks client credentials for the token endpoint and the revocation endpoint (interface 5.1). */
export function createClientAuthentication({ findClient, secretMatches, keyStatus, limit }: Dependencies) {
  /**
   * Refuses wrong credentials. They are counted per client id and address. Otherwise an attacker who knows the public client id
   * could lock the client out.
   */
  async function refuse({ clientId, clientSecret, address, basic }: Credentials): Promise<never> {
    const caller = `${clientId}|${subscriberOf(address)}`;
    const refusal = 'Too many wrong client secrets';
    await limit('wrong-secret', caller, { perMinute: wrongSecretsPerMinute, refusal });
    // Explains a mix-up, such as an API key in place of the client secret.
    const mixUp =
      describeMistake('client_id', clientId, 'clientId') ??
      describeMistake('client_secret', clientSecret, 'clientSecret');
    throw new ApiError('invalid_client', {
      ...(mixUp && { description: mixUp }),
      ...(basic && { headers: basicChallenge }),
    });
  }

  const isActive = ({ client, partner }: Authenticated) =>
    client.status === 'active' && partner.status === 'active';

  const hasActiveKey = async ({ keyId }: OAuthClient) => (await keyStatus(keyId)) === 'active';

  /** Returns the client. If its key is revoked, the client is read again, because it may have another key now. */
  async function withActiveKey(client: OAuthClient): Promise<OAuthClient> {
    if (await hasActiveKey(client)) return client;
    const reread = await findClient(client._id, { fresh: true });
    if (reread && (await hasActiveKey(reread.client))) return reread.client;
    throw new ApiError('client_inactive', { description: 'The API key that owns this client is revoked' });
  }

  return {
    /**
     * Returns the client with these credentials, and its partner.
     * @throws ApiError `invalid_client`; `rate_limited` after too many wrong secrets; `client_inactive`
     */
    async authenticate(credentials: Credentials): Promise<Authenticated> {
      const isRight = ({ client }: Authenticated) => secretMatches(client, credentials.clientSecret);
      const found = await findClient(credentials.clientId, {
        acceptCached: (cached) => isRight(cached) && isActive(cached),
      });
      if (!found || !isRight(found)) return refuse(credentials);
      await credentials.identified?.(found.partner._id);
      if (isActive(found)) return found;
      throw new ApiError('client_inactive');
    },

    /** Returns the client, read again if it may not ask for `scope`. The caller refuses a client that still may not. */
    async withClaims(client: OAuthClient, scope: readonly ClaimName[]): Promise<OAuthClient> {
      const hasClaims = ({ claims }: OAuthClient) => scope.every((name) => claims.includes(name));
      if (hasClaims(client)) return client;
      return (await findClient(client._id, { fresh: true }))?.client ?? client;
    },

    /**
     * Counts a request of the client, and at the same time reads the status of its key from the database.
     * @returns the client, whose key is active
     * @throws ApiError `client_inactive` if the key is revoked; else `rate_limited` above the limit (interface section 8, rule 5)
     */
    async admit(client: OAuthClient): Promise<OAuthClient> {
      const perMinute = client.tokenRequestsPerMinute ?? tokenRequestsPerMinute;
      const counted = limit('token', client._id, {
        perMinute,
        refusal: 'Token endpoint rate limit exceeded',
      });
      // If the key is revoked, the caller gets that error, and the error of the limit is dropped.
      counted.catch(() => undefined);
      const admitted = await withActiveKey(client);
      await counted;
      return admitted;
    },
  };
}
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;
