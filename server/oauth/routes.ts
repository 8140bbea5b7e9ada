import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  AuthorizationServerMetadata,
  OAuthError,
  RevokeRequest,
  TokenRequest,
  TokenResponse,
  UserinfoResponse,
} from '../../contracts/oauth.ts';
import { answerInTime, waitingFor } from '../platform/http/in-time.ts';
import type { Keyring } from '../platform/keyring.ts';
import { withBasicCredentials } from './basic-credentials.ts';
import type { Credentials } from './client-authentication.ts';
import { authorizationServerMetadata } from './metadata.ts';
import type { createRevocation } from './revoke.ts';
import type { createTokenExchange } from './token.ts';
import type { createUserinfo } from './userinfo.ts';

interface Dependencies {
  exchange: ReturnType<typeof createTokenExchange>;
  userinfo: ReturnType<typeof createUserinfo>;
  revoke: ReturnType<typeof createRevocation>;
}

const errors = <S extends number>(...statuses: S[]) =>
  Object.fromEntries(statuses.map((status) => [status, OAuthError])) as Record<S, typeof OAuthError>;

function credentialsOf(
  request: FastifyRequest,
  body: { client_id: string; client_secret: string },
): Credentials {
  return {
    clientId: body.client_id,
    clientSecret: body.client_secret,
    basic: request.headers.authorization !== undefined,
    address: request.ip,
  };
}

async function mergeBasic(request: FastifyRequest): Promise<void> {
  request.body = withBasicCredentials(request.headers.authorization, request.body);
}

/** `/api/oauth`: errors in the OAuth format; nothing is ever cached. */
export function oauthRoutes({ exchange, userinfo, revoke }: Dependencies): FastifyPluginAsyncZod {
  return async (scope) => {
    answerInTime(scope);
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      done();
    });

    scope.post(
      '/token',
      {
        preValidation: mergeBasic,
        schema: {
          body: TokenRequest,
          response: { 200: TokenResponse, ...errors(400, 401, 402, 403, 429, 500, 503) },
        },
      },
      async (request) => exchange(request.body, credentialsOf(request, request.body), waitingFor(request)),
    );

    scope.get(
      '/userinfo',
      { schema: { response: { 200: UserinfoResponse, ...errors(401, 429, 500, 503) } } },
      async (request) => userinfo(request.headers.authorization),
    );

    scope.post(
      '/revoke',
      {
        preValidation: mergeBasic,
        schema: {
          body: RevokeRequest,
          response: { 200: z.undefined(), ...errors(400, 401, 403, 429, 500, 503) },
        },
      },
      async (request, reply) => {
        await revoke(request.body, credentialsOf(request, request.body));
        return reply.status(200).send(undefined);
      },
    );
  };
}

/** `/.well-known`: what a client library finds out by itself. */
export function discoveryRoutes({
  issuer,
  keyring,
}: {
  issuer: string;
  keyring: Pick<Keyring, 'publicKeys'>;
}): FastifyPluginAsyncZod {
  const metadata = authorizationServerMetadata(issuer);
  const Jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });
  const headers = { 'cache-control': 'public, max-age=300' };

  return async (scope) => {
    scope.get(
      '/oauth-authorization-server',
      { schema: { response: { 200: AuthorizationServerMetadata } } },
      async (_request, reply) => reply.headers(headers).send(metadata),
    );
    scope.get('/jwks.json', { schema: { response: { 200: Jwks } } }, async (_request, reply) =>
      reply.headers(headers).send({ keys: keyring.publicKeys as z.infer<typeof Jwks>['keys'] }),
    );
  };
}
