import type { AnyRouter } from '@trpc/server';
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { StatusView } from '../../contracts/admin/status.ts';
import { environmentHeader, tokenExpiryHeader } from '../../contracts/environment-header.ts';
import { type AdminContext, toTrpcError } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { noteFailure } from '../platform/http/answer-log.ts';
import type { AuditLog } from './audit-log.ts';
import type { Authenticate } from './authentication.ts';

/** The most bytes of a request body. The largest request carries a logo in base64. */
const largestBody = 384 * 1024;

/** The time before the expiry of a token in which each response warns of it, in milliseconds. */
const warnedBeforeMs = 7 * 86_400_000;

interface Dependencies {
  /** Sent with every response to an operator, so that `svcadmin` can warn of a live server. */
  environment: StatusView['environment'];
  router: AnyRouter;
  authenticate: Authenticate;
  clock: Pick<Clock, 'now'>;
  auditLog: Pick<AuditLog, 'recordCall' | 'recordRead'>;
}

/**
 * Returns the admin API at `/trpc`. Register it as a separate plugin, because tRPC replaces the JSON parser of its scope.
 * A request calls one procedure only, so that a request id identifies one change.
 */
export function adminRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { environment, router, authenticate, clock, auditLog } = dependencies;

  async function identify(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
  ): Promise<AdminContext['operator']> {
    try {
      const { headers, ip: address } = request;
      const operator = await authenticate(headers.authorization, { address, path });
      void reply.header(environmentHeader, environment);
      const { expiresAt } = operator;
      if (expiresAt && Date.parse(expiresAt) - clock.now() < warnedBeforeMs)
        void reply.header(tokenExpiryHeader, expiresAt);
      return operator;
    } catch (thrown) {
      // `translated` converts errors of procedures. This error comes before the procedure, so it is converted here.
      const error = isUnavailable(thrown) ? unavailable(thrown) : thrown;
      if (!(error instanceof ApiError)) throw error;
      noteFailure(request, error);
      void reply.headers(error.headers);
      throw toTrpcError(error);
    }
  }

  const trpcOptions: FastifyTRPCPluginOptions<AnyRouter>['trpcOptions'] = {
    router,
    allowBatching: false,
    // Batches are not allowed, so there is only one call.
    createContext: async ({ req, res, info }): Promise<AdminContext> => ({
      operator: await identify(req, res, info.calls[0]?.path ?? ''),
      requestId: req.id,
      address: req.ip,
      failed: (error) => noteFailure(req, error),
      recordCall: auditLog.recordCall,
      recordRead: auditLog.recordRead,
    }),
  };

  return async (scope) => {
    // The plugin makes the route itself and has no option for the limit.
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = largestBody;
    });
    await scope.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
  };
}
