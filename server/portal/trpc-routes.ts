import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { environmentHeader } from '../../contracts/environment-header.ts';
import { type AdminContext, toTrpcError } from '../platform/admin-api/procedures.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { noteFailure } from '../platform/http/answer-log.ts';
import { bearerToken } from '../platform/http/bearer.ts';
import type { AdminRouter } from '../wiring/admin-router.ts';
import type { Browser } from './browser.ts';
import type { MemberCalls } from './member-calls.ts';
import type { SignedIn } from './member-sessions.ts';

/** The largest request body in bytes: a logo in base64. */
const largestBody = 384 * 1024;

interface Dependencies {
  router: AdminRouter;
  browser: Browser;
  calls: MemberCalls;
  environment: string;
}

/** The admin API for members, at `/portal/trpc`. It is a separate plugin, because tRPC replaces its scope's JSON parser. */
export function memberApiRoutes({ router, browser, calls, environment }: Dependencies): FastifyPluginAsync {
  /** The member of a program, which sends a bearer token. */
  async function requireLogin(request: FastifyRequest, token: string): Promise<SignedIn> {
    const login = await calls.admitToken(request, token);
    if (login) return login;
    const description =
      'This login has ended: it lasts 12 hours, and ends when its member or partner changes';
    throw new ApiError('unauthorized', { description });
  }

  /** The member of a browser. Another site can make the browser send its cookie, so the CSRF token is checked too. */
  async function requireSession(request: FastifyRequest): Promise<SignedIn> {
    const signedIn = await calls.admit(request);
    if (!signedIn) throw new ApiError('unauthorized', { description: 'Sign in at /portal' });
    browser.requireOwnCall(request, signedIn.secret);
    return signedIn;
  }

  async function contextOf(request: FastifyRequest): Promise<AdminContext> {
    const token = bearerToken(request.headers.authorization);
    const signedIn = await (token === undefined ? requireSession(request) : requireLogin(request, token));
    return calls.contextOf(request, signedIn);
  }

  const trpcOptions: FastifyTRPCPluginOptions<AdminRouter>['trpcOptions'] = {
    router,
    allowBatching: false,
    createContext: async ({ req, res }) =>
      // The error handling of procedures does not see errors from before the procedure, so they are converted here.
      contextOf(req).catch((thrown: unknown) => {
        const error = isUnavailable(thrown) ? unavailable(thrown) : thrown;
        if (!(error instanceof ApiError)) throw error;
        noteFailure(req, error);
        void res.headers(error.headers);
        throw toTrpcError(error);
      }),
  };

  return async (scope) => {
    // The plugin makes its routes itself, so their limit is set here.
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = largestBody;
    });
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'cache-control': 'no-store', [environmentHeader]: environment });
    });
    await scope.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
  };
}
