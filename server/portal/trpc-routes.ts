import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { environmentHeader } from '../../contracts/environment-header.ts';
import { toTrpcError } from '../platform/admin-api/procedures.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { noteFailure } from '../platform/http/answer-log.ts';
import { bearerToken } from '../platform/http/bearer.ts';
import type { AdminRouter } from '../wiring/admin-router.ts';
import type { Browser } from './browser.ts';
import type { MemberCalls } from './member-calls.ts';

/** The largest request body in bytes: a logo in base64. */
const largestBody = 384 * 1024;

const noSession = 'Sign in at /portal';
const noLogin = 'This login has ended: it lasts 12 hours, and ends when its member or partner changes';

interface Dependencies {
  router: AdminRouter;
  browser: Browser;
  calls: MemberCalls;
  environment: string;
}

/** The admin API for members, at `/portal/trpc`. It is a separate plugin, because tRPC replaces its scope's JSON parser. */
export function memberApiRoutes({ router, browser, calls, environment }: Dependencies): FastifyPluginAsync {
  /** The context of a call. Browsers sign in with a cookie, programs with a bearer token. */
  async function contextOf(request: FastifyRequest) {
    const token = bearerToken(request.headers.authorization);
    const signedIn = await (token === undefined ? calls.admit(request) : calls.admitToken(request, token));
    if (!signedIn)
      throw new ApiError('unauthorized', { description: token === undefined ? noSession : noLogin });
    // Another site can make a browser send the cookie, but not a bearer token. So only the cookie needs a CSRF token.
    if (token === undefined) browser.requireOwnCall(request, signedIn.secret);
    return calls.contextOf(request, signedIn);
  }

  const trpcOptions: FastifyTRPCPluginOptions<AdminRouter>['trpcOptions'] = {
    router,
    allowBatching: false,
    createContext: async ({ req, res }) =>
      contextOf(req).catch((thrown: unknown) => {
        const error = isUnavailable(thrown) ? unavailable(thrown) : thrown;
        if (!(error instanceof ApiError)) throw error;
        noteFailure(req, error);
        void res.headers(error.headers);
        throw toTrpcError(error);
      }),
  };

  return async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = largestBody;
    });
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'cache-control': 'no-store', [environmentHeader]: environment });
    });
    await scope.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
  };
}
