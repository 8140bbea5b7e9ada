import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { environmentHeader } from '../../../../contracts/environment-header.ts';
import { trpcRoutes } from '../../../platform/admin-api/mount.ts';
import type { AdminContext } from '../../../platform/admin-api/procedures.ts';
import { ApiError } from '../../../platform/errors.ts';
import { bearerToken } from '../../../platform/http/bearer.ts';
import type { SignedIn } from '../member-sessions.ts';
import type { PortalParts } from '../parts.ts';

/** The admin API for members, at `/portal/trpc`. */
export function memberApiRoutes({ router, browser, calls, about }: PortalParts): FastifyPluginAsync {
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

  return async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.header(environmentHeader, about.environment);
    });
    await scope.register(trpcRoutes(router, contextOf));
  };
}
