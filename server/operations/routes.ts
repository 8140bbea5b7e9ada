import type { AnyRouter } from '@trpc/server';
import type { FastifyPluginAsync } from 'fastify';
import type { StatusView } from '../../contracts/admin/status.ts';
import { environmentHeader, tokenExpiryHeader } from '../../contracts/environment-header.ts';
import { type MakeContext, trpcRoutes } from '../platform/admin-api/mount.ts';
import type { Clock } from '../platform/clock.ts';
import { noteFailure } from '../platform/http/answer-log.ts';
import type { Admin } from './feature.ts';

/** The time before the expiry of a token in which each response warns of it, in milliseconds. */
const warnedBeforeMs = 7 * 86_400_000;

interface Dependencies extends Pick<Admin, 'authenticate' | 'auditLog'> {
  /** Sent with every response to an operator, so that `svcadmin` can warn of a live server. */
  environment: StatusView['environment'];
  router: AnyRouter;
  clock: Pick<Clock, 'now'>;
}

/** Returns the admin API for operators, at `/trpc`. */
export function adminRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { environment, router, authenticate, clock, auditLog } = dependencies;

  const makeContext: MakeContext = async (request, reply, path) => {
    const { id: requestId, headers, ip: address } = request;
    const operator = await authenticate(headers.authorization, { address, path });
    void reply.header(environmentHeader, environment);
    const { expiresAt } = operator;
    if (expiresAt && Date.parse(expiresAt) - clock.now() < warnedBeforeMs)
      void reply.header(tokenExpiryHeader, expiresAt);
    const { recordCall, recordRead } = auditLog;
    return {
      operator,
      requestId,
      address,
      failed: (error) => noteFailure(request, error),
      recordCall,
      recordRead,
    };
  };

  return trpcRoutes(router, makeContext);
}
