import type { ClaimName } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { ApiError } from '../platform/errors.ts';
import { subscriberOf } from '../platform/http/client-network.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';
import { wrongKind } from '../platform/keys/credential-kinds.ts';

/** What the OAuth endpoints need to know of a client. */
export interface OAuthClient {
  _id: string;
  partnerId: string;
  keyId: string;
  mode: Mode;
  kind: 'oauth' | 'storefront';
  status: 'active' | 'disabled';
  secrets: { hash: string; expiresAt?: Date }[];
  claims: ClaimName[];
  tokenRequestsPerMinute?: number;
  userinfoRequestsPerMinute?: number;
}

/** … and of its partner. Prices are cents per billable event. */
export interface OAuthPartner {
  _id: string;
  status: 'pending' | 'active' | 'suspended';
  prices?: { token?: number };
}

export interface Authenticated {
  client: OAuthClient;
  partner: OAuthPartner;
}

/** Answers from a cache of 2 s. `fresh` reads the database, and `until` does where the cached answer does not satisfy it. */
export type FindClient = (
  id: string,
  options?: { fresh?: boolean; until?: (found: Authenticated) => boolean },
) => Promise<Authenticated | undefined>;

interface Dependencies {
  findClient: FindClient;
  /** Constant-time comparison with every secret that is valid now. */
  secretMatches: (client: OAuthClient, secret: string) => boolean;
  keyStatus: (keyId: string) => Promise<'active' | 'revoked' | undefined>;
  limit: RequestLimit;
}

export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** Sent in a Basic header rather than in the body: decides the form of a 401. */
  basic: boolean;
  /** Remote address of the caller. */
  address: string;
  /** Called with the partner, once the secret is known to be right. It may refuse the request. */
  identified?: (partnerId: string) => Promise<void>;
}

/** Wrong secrets a minute, per client id and address, before 429 takes the place of 401. */
const wrongSecretsPerMinute = 20;
/** Interface section 8. */
const tokenRequestsPerMinute = 30;

/** Sent with a 401 where a header was sent: RFC 6749 5.2. */
export const basicChallenge = { 'www-authenticate': 'Basic realm="svc", charset="UTF-8"' };

/** Interface 5.1: client credentials, as the token and the revocation endpoint check them. */
export function createClientAuthentication({ findClient, secretMatches, keyStatus, limit }: Dependencies) {
  /** Counted per address: knowing a public client id must not lock its owner out. */
  async function refuse({ clientId, clientSecret, address, basic }: Credentials): Promise<never> {
    const { allowed, retryAfter } = await limit(
      'wrong-secret',
      `${clientId}|${subscriberOf(address)}`,
      wrongSecretsPerMinute,
    );
    if (!allowed)
      throw new ApiError('rate_limited', { description: 'Too many wrong client secrets', retryAfter });
    const description =
      wrongKind('client_id', clientId, 'clientId') ??
      wrongKind('client_secret', clientSecret, 'clientSecret');
    throw new ApiError('invalid_client', {
      ...(description && { description }),
      ...(basic && { headers: basicChallenge }),
    });
  }

  const isActive = ({ client, partner }: Authenticated) =>
    client.status === 'active' && partner.status === 'active';

  const mostRequests = (client: OAuthClient) => client.tokenRequestsPerMinute ?? tokenRequestsPerMinute;

  const hasActiveKey = async ({ keyId }: OAuthClient) => (await keyStatus(keyId)) === 'active';

  /** The client, read again if its key is revoked, because it may have another key. */
  async function withActiveKey(client: OAuthClient): Promise<OAuthClient> {
    if (await hasActiveKey(client)) return client;
    const again = await findClient(client._id, { fresh: true });
    if (again && (await hasActiveKey(again.client))) return again.client;
    throw new ApiError('client_inactive', { description: 'The API key that owns this client is revoked' });
  }

  return {
    /**
     * The client that these credentials belong to, with its partner.
     * @throws ApiError invalid_client; rate_limited after too many wrong secrets; client_inactive
     */
    async authenticate(credentials: Credentials): Promise<Authenticated> {
      const isRight = ({ client }: Authenticated) => secretMatches(client, credentials.clientSecret);
      const found = await findClient(credentials.clientId, { until: (one) => isRight(one) && isActive(one) });
      if (!found || !isRight(found)) return refuse(credentials);
      await credentials.identified?.(found.partner._id);
      if (isActive(found)) return found;
      throw new ApiError('client_inactive');
    },

    /** The client, read again where its claims do not include `scope`. */
    async permitted(client: OAuthClient, scope: readonly ClaimName[]): Promise<OAuthClient> {
      const hasClaims = ({ claims }: OAuthClient) => scope.every((name) => claims.includes(name));
      if (hasClaims(client)) return client;
      return (await findClient(client._id, { fresh: true }))?.client ?? client;
    },

    /**
     * Counts this request, and reads the status of its key at the same time, never from a cache.
     * @returns the client with a key that is active
     * @throws ApiError client_inactive where the key is revoked, then rate_limited (interface section 8, rule 5)
     */
    async admit(client: OAuthClient): Promise<OAuthClient> {
      const counting = limit('token', client._id, mostRequests(client));
      const [admitted] = await Promise.all([withActiveKey(client), counting]);
      const { allowed, retryAfter } = await counting;
      if (allowed) return admitted;
      throw new ApiError('rate_limited', { description: 'Token endpoint rate limit exceeded', retryAfter });
    },
  };
}
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;
