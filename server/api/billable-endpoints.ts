import type { Charges } from '../billing/charge.ts';
import type { Verification } from '../pages/feature.ts';
import type { PartnersFeature } from '../partners/feature.ts';
import type { SecretUses } from '../partners/keys/secret-uses.ts';
import type { Clock } from '../platform/clock.ts';
import type { Deadline } from '../platform/config/pace.ts';
import { ApiError } from '../platform/errors.ts';
import type { RequestLimit } from '../platform/http/limits/request-limits.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { createCheckboxResolve } from './checkbox/resolve.ts';
import { checkboxRoutes } from './checkbox/routes.ts';
import { createUnbilledLimit } from './checkbox/unbilled.ts';
import { createCallerAuthentication } from './integrations/storefront/caller.ts';
import { storefrontRoutes } from './integrations/storefront/routes.ts';
import { createStorefrontExchange } from './integrations/storefront/verify/exchange.ts';
import { createAccessTokens } from './oauth/access-token.ts';
import { createClientAuthentication } from './oauth/client-authentication.ts';
import { createIdTokens } from './oauth/id-token.ts';
import { createRevocation } from './oauth/revoke.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { createTokenExchange } from './oauth/token.ts';
import { createUserinfo } from './oauth/userinfo.ts';
import { authenticateKey, sessionQueryRoutes } from './verify/hvf-session.ts';

interface Dependencies {
  charges: Charges;
  sessions: Pick<SessionStore, 'find'>;
  revokedAt: (accessId: string) => Promise<Date | undefined>;
  partners: Pick<PartnersFeature, 'directory' | 'clientSecrets' | 'integrations'>;
  verification: Pick<Verification, 'grants' | 'enrolled' | 'rememberCustomer'>;
  keyring: Keyring;
  sealing: Sealing;
  limit: RequestLimit;
  /** Notes that a secret has signed a request of an integration. */
  used: Pick<SecretUses, 'integration'>;
  clock: Clock;
  /** The issuer of tokens, which is the base URL. */
  issuer: string;
  deadline: Deadline;
}

/**
 * Makes the endpoints of OAuth, storefront and checkbox, each of which gets the user from verification and a charge from
 * billing, and the session query.
 */
export function createBillableEndpoints(dependencies: Dependencies) {
  const { charges, partners, verification, keyring, sealing, limit, clock, deadline } = dependencies;
  const { directory, clientSecrets, integrations } = partners;
  const { client: findClient, keyStatus } = directory;
  const { revoke } = charges;
  const freshClient = (clientId: string) => findClient(clientId, { fresh: true });

  const tokens = createAccessTokens({ keyring, issuer: dependencies.issuer, clock });
  const secretMatches = clientSecrets.matches;
  const clients = createClientAuthentication({ findClient, secretMatches, keyStatus, limit });
  const oauth = oauthRoutes({
    exchange: createTokenExchange({
      ...{ clients, grants: verification.grants, charges, revoke, tokens, clock },
      signIdToken: createIdTokens(keyring, dependencies.issuer),
    }),
    userinfo: createUserinfo({
      tokens,
      findAccess: charges.access,
      revokedAt: dependencies.revokedAt,
      findClient,
      limit,
      clock,
    }),
    revoke: createRevocation({ clients, tokens, revoke }),
    deadline,
  });

  const storefront = storefrontRoutes({
    authenticate: createCallerAuthentication({
      findIntegration: integrations.find,
      findClient: freshClient,
      keyStatus,
      sealing,
      limit,
      onSecretUsed: dependencies.used.integration,
      clock,
    }),
    exchange: createStorefrontExchange({
      loadGrant: verification.grants.load,
      charges,
      rememberCustomer: verification.rememberCustomer,
      idKey: keyring.id,
      clock,
    }),
    deadline,
  });

  const admitUnbilled = createUnbilledLimit(limit);
  const checkbox = checkboxRoutes({
    admitUnbilled,
    async authenticate(authorization) {
      const key = await authenticateKey(authorization, directory);
      const partner = await directory.partner(key.partnerId);
      if (!partner) throw new ApiError('invalid_api_key');
      return { key, partner };
    },
    resolve: createCheckboxResolve({
      findEnrolled: verification.enrolled,
      findClient: freshClient,
      charges,
      admitUnbilled,
      clock,
    }),
    deadline,
  });

  return {
    oauth: { routes: oauth },
    storefront: { routes: storefront },
    checkbox: { routes: checkbox },
    sessionQuery: {
      routes: sessionQueryRoutes({ sessions: dependencies.sessions, directory, limit, clock }),
    },
  };
}
