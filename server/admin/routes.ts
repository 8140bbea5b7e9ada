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

/** Bytes of a request: the largest one carries a logo in base64. */
const largestBody = 384 * 1024;

/** Milliseconds before a token expires in which each answer says so. */
const warnedBeforeMs = 7 * 86_400_000;

interface Dependencies {
  /** Goes with every answer to an operator, so that `svcadmin` can warn of a live server. */
  environment: StatusView['environment'];
  router: AnyRouter;
  authenticate: Authenticate;
  clock: Pick<Clock, 'now'>;
  auditLog: Pick<AuditLog, 'recordCall' | 'recordRead'>;
}

/**
 * The admin API at `/trpc`. To be registered as a plugin of its own: tRPC replaces the JSON parser of its scope.
 * One request carries one procedure, so that a request id names one change.
 */
export function adminRoutes({
  environment,
  router,
  authenticate,
  clock,
  auditLog,
}: Dependencies): FastifyPluginAsync {
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
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = largestBody;
    });
    await scope.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions });
  };
}
