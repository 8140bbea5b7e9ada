import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { errorTable } from '../../../contracts/errors.ts';
import { GeneralError, SessionResponse } from '../../../contracts/verification.ts';
import type { Directory } from '../../partners/directory/directory.ts';
import type { ApiKey } from '../../partners/keys/key-store.ts';
import { ApiError } from '../../platform/errors.ts';
import { notePartner } from '../../platform/http/answer-log.ts';
import { bearerChallenge } from '../../platform/http/bearer.ts';
import { asGeneral, renderErrors } from '../../platform/http/errors.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import { createRequestCallers } from '../../platform/http/request-callers.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';
import type { Session } from '../../sessions/session.ts';
import type { SessionStore } from '../../sessions/session-store.ts';

type KeyDirectory = Pick<Directory, 'apiKeyBySecret' | 'partner'>;

export interface SessionQueryDependencies {
  sessions: Pick<SessionStore, 'find'>;
  directory: KeyDirectory;
  limit: RequestLimit;
  clock: { now(): number };
}

/** Limit for each API key (interface section 8). */
const queriesPerMinute = 60;

/** The refusal of a request. If a credential of another kind was sent as the API key, for instance a client secret, it says so. */
function keyRefusal(
  code: 'missing_api_key' | 'invalid_api_key',
  { header, sentKey = '' }: { header: string | undefined; sentKey?: string },
): ApiError {
  const description = describeMistake('The bearer token', sentKey, 'apiKey');
  const headers = bearerChallenge(header, description ?? errorTable[code].text);
  return new ApiError(code, { headers, ...(description && { description }) });
}

/**
 * The API key in an `Authorization` header (interface 5.3). A key of an inactive partner is refused as an invalid one.
 * @throws ApiError `missing_api_key`, `invalid_api_key`
 */
export async function authenticateKey(header: string | undefined, directory: KeyDirectory): Promise<ApiKey> {
  const { sentKey } = /^Bearer +(?<sentKey>[^\s]+)$/i.exec(header ?? '')?.groups ?? {};
  if (!sentKey) throw keyRefusal('missing_api_key', { header });
  const key = await directory.apiKeyBySecret(sentKey);
  if (key?.status !== 'active') throw keyRefusal('invalid_api_key', { header, sentKey });
  const isActive = ({ status }: { status: string }) => status === 'active';
  const partner = await directory.partner(key.partnerId, { acceptCached: isActive });
  if (!partner || !isActive(partner)) throw keyRefusal('invalid_api_key', { header });
  return key;
}

/** The session as the contract shows it to partners (interface 4.5). */
function toResponse(session: Session): SessionResponse {
  return {
    success: true,
    session: {
      sessionId: session._id,
      status: session.status,
      scopes: session.scope,
      isTestMode: session.mode === 'test',
      createdAt: session.createdAt.toISOString(),
      expiresAt: session.expiresAt.toISOString(),
    },
  };
}

/** `GET {prefix}/hvf-session/{session_id}` (interface 4.5, 5.3, 7.2). */
export function sessionQueryRoutes(dependencies: SessionQueryDependencies): FastifyPluginAsyncZod {
  const { sessions, directory, limit, clock } = dependencies;

  const keys = createRequestCallers<ApiKey>();

  return async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      const key = await authenticateKey(request.headers.authorization, directory);
      notePartner(request, key.partnerId);
      keys.set(request, key);
    });
    renderErrors(app, (error, request, reply) => {
      // Interface 7.2 fixes the text of each error, so a description of our own is left out.
      if (error.code !== 'service_unavailable') return asGeneral(new ApiError(error.code), request, reply);
      // 7.2 has a 500 and no 503. `Retry-After` belongs to the 503 only.
      void reply.status(500).removeHeader('retry-after');
      return asGeneral(new ApiError('server_error'), request, reply);
    });

    app.get(
      '/hvf-session/:session_id',
      {
        schema: {
          params: z.object({ session_id: z.string() }),
          response: { 200: SessionResponse, '4xx': GeneralError, '5xx': GeneralError },
        },
      },
      async (request) => {
        const key = keys.require(request);
        await limit('session-query', key._id, { perMinute: queriesPerMinute });
        const session = await sessions.find(request.params.session_id);
        if (!session || clock.now() >= session.expiresAt.getTime()) throw new ApiError('session_not_found');
        if (session.keyId !== key._id) throw new ApiError('foreign_session');
        return toResponse(session);
      },
    );
  };
}
