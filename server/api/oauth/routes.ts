import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  AuthorizationServerMetadata,
  grantType,
  OAuthError,
  OpenidConfiguration,
  OpenidTokenResponse,
  RevokeRequest,
  TokenRequest,
  TokenResponse,
  UserinfoResponse,
} from '../../../contracts/oauth.ts';
import type { Deadline } from '../../platform/config/pace.ts';
import { ApiError } from '../../platform/errors.ts';
import { bearerToken } from '../../platform/http/bearer.ts';
import { allowPreflight, anyOrigin } from '../../platform/http/browser/any-origin.ts';
import { answerInTime, contextOf } from '../../platform/http/deadline.ts';
import { admitAuthenticated } from '../../platform/http/limits/in-flight.ts';
import { requireOnce, withoutEmpty } from '../../platform/http/parameters.ts';
import { nameKind } from '../../platform/keys/credential-kinds.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import { type CredentialsPlace, mergeCredentials } from './basic-credentials.ts';
import { basicChallenge, type Credentials } from './client-authentication.ts';
import { authorizationServerMetadata, discoveryLifetimeSeconds, openidConfiguration } from './metadata.ts';
import type { createRevocation } from './revoke.ts';
import type { createTokenExchange } from './token.ts';
import type { createUserinfo } from './userinfo.ts';

interface Dependencies {
  exchange: ReturnType<typeof createTokenExchange>;
  userinfo: ReturnType<typeof createUserinfo>;
  revoke: ReturnType<typeof createRevocation>;
  deadline: Deadline;
}

const errorResponses = <S extends number>(...statuses: S[]) =>
  Object.fromEntries(statuses.map((status) => [status, OAuthError])) as Record<S, typeof OAuthError>;

/** Checks the grant type before everything else, because a grant of another type has other parameters. */
async function requireGrantType({ body }: FastifyRequest): Promise<void> {
  const { grant_type: given } = (body ?? {}) as Record<string, unknown>;
  if (typeof given === 'string' && given !== '' && given !== grantType)
    throw new ApiError('unsupported_grant_type');
}

/** Reads the client's credentials from the body or from the header of a request. */
function createCredentialsReader() {
  /** Where the credentials of a request were. `prepare` runs before the validation of the body, and `read` after it. */
  const places = new WeakMap<FastifyRequest, CredentialsPlace>();

  return {
    /**
     * Adds the credentials of a Basic header to the body. Runs before the body is checked against its schema. A parameter may
     * occur once, and an empty one counts as absent (RFC 6749 3.2).
     */
    async prepare(request: FastifyRequest): Promise<void> {
      const isForm = /^application\/x-www-form-urlencoded/i.test(request.headers['content-type'] ?? '');
      if (isForm) requireOnce(request.body);
      const { body, place } = mergeCredentials(request.headers.authorization, withoutEmpty(request.body));
      request.body = body;
      places.set(request, place);
    },

    /** Returns the credentials. @throws ApiError `invalid_client` if the header does not have the right form */
    read(request: FastifyRequest, body: { client_id: string; client_secret: string }): Credentials {
      const place = places.get(request);
      if (place === 'unreadable') {
        const mistake = 'The Authorization header is not of the form Basic base64(client_id:client_secret)';
        // For example an API key, which other endpoints of this API take as a Bearer token.
        const sentCredential = nameKind(bearerToken(request.headers.authorization) ?? '');
        const description = sentCredential === undefined ? mistake : `${mistake}: it has ${sentCredential}`;
        throw new ApiError('invalid_client', { description, headers: basicChallenge });
      }
      const { client_id: clientId, client_secret: clientSecret } = body;
      return {
        clientId,
        clientSecret,
        basic: place === 'basic',
        address: request.ip,
        identified: (partnerId) => admitAuthenticated(request, partnerId),
      };
    },
  };
}

/** The routes under `/api/oauth`. Errors have the OAuth format, and no response may be cached. */
export function oauthRoutes({ exchange, userinfo, revoke, deadline }: Dependencies): FastifyPluginAsyncZod {
  const credentials = createCredentialsReader();

  return async (scope) => {
    answerInTime(scope, deadline);
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      done();
    });

    scope.post(
      '/token',
      {
        preValidation: [requireGrantType, credentials.prepare],
        schema: {
          body: TokenRequest,
          response: {
            // Tried in this order.
            200: z.union([TokenResponse, OpenidTokenResponse]),
            ...errorResponses(400, 401, 402, 403, 429, 500, 503),
          },
        },
      },
      async (request) => exchange(request.body, credentials.read(request, request.body), contextOf(request)),
    );

    scope.get(
      '/userinfo',
      { schema: { response: { 200: UserinfoResponse, ...errorResponses(401, 429, 500, 503) } } },
      async (request) =>
        userinfo(request.headers.authorization, (partnerId) => admitAuthenticated(request, partnerId)),
    );

    scope.post(
      '/revoke',
      {
        preValidation: credentials.prepare,
        schema: {
          body: RevokeRequest,
          response: { 200: z.undefined(), ...errorResponses(400, 401, 403, 429, 500, 503) },
        },
      },
      async (request, reply) => {
        await revoke(request.body, credentials.read(request, request.body));
        return reply.status(200).send(undefined);
      },
    );
  };
}

/**
 * The routes that client libraries discover. If the issuer has a path, the metadata are at two addresses, because libraries try
 * both: RFC 8414 3.1 inserts the well-known part before the path; RFC 8414 5 and OpenID Connect Discovery 4.1 append it.
 */
export function discoveryRoutes(issuer: string, keyring: Pick<Keyring, 'publicKeys'>): FastifyPluginAsyncZod {
  const documents = [
    {
      wellKnown: '/.well-known/oauth-authorization-server',
      schema: AuthorizationServerMetadata,
      metadata: authorizationServerMetadata(issuer),
    },
    {
      wellKnown: '/.well-known/openid-configuration',
      schema: OpenidConfiguration,
      metadata: openidConfiguration(issuer),
    },
  ];
  const Jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });
  const headers = { ...anyOrigin, 'cache-control': `public, max-age=${discoveryLifetimeSeconds}` };
  const path = new URL(issuer).pathname.replace(/\/$/, '');

  return async (scope) => {
    for (const { wellKnown, schema: body, metadata } of documents) {
      for (const address of new Set([wellKnown, `${wellKnown}${path}`, `${path}${wellKnown}`])) {
        // The OpenAPI document lists only the usual address.
        const schema = { hide: address !== wellKnown, response: { 200: body } };
        allowPreflight(scope, address);
        scope.get(address, { schema }, async (_request, reply) => reply.headers(headers).send(metadata));
      }
    }
    allowPreflight(scope, '/.well-known/jwks.json');
    scope.get('/.well-known/jwks.json', { schema: { response: { 200: Jwks } } }, async (_request, reply) =>
      reply.headers(headers).send({ keys: keyring.publicKeys as z.infer<typeof Jwks>['keys'] }),
    );
  };
}
