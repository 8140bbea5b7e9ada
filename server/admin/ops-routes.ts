import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { mayCall } from '../platform/admin-api/roles.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { asGeneral, renderErrors } from '../platform/http/errors.ts';
import type { Authenticate } from './authentication.ts';
import type { Metrics } from './metrics.ts';
import { opsPagePolicy, opsRefresh, renderOpsPage } from './ops-page.ts';
import type { OverviewStore } from './overview-store.ts';

interface Dependencies {
  authenticate: Authenticate;
  overview: OverviewStore;
  metrics: Metrics;
  clock: Pick<Clock, 'now'>;
}

/** Browsers sign in by HTTP Basic: any name, the operator token as the password. */
function asBearer(authorization: string | undefined): string | undefined {
  const [, credentials] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (credentials === undefined) return authorization;
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  return `Bearer ${decoded.slice(decoded.indexOf(':') + 1)}`;
}

/** Makes browsers ask, where the token is missing or wrong. */
function askToSignIn(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'operator_unknown') throw error;
  const headers = { 'www-authenticate': 'Basic realm="SVC operators", charset="UTF-8"' };
  throw new ApiError('operator_unknown', { headers });
}

/** `GET /ops` for people and `GET /metrics` for Prometheus, both for operators who may see them. */
export function opsRoutes({ authenticate, overview, metrics, clock }: Dependencies): FastifyPluginAsync {
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'no-store');
    const { role } = await authenticate(asBearer(request.headers.authorization), request.ip).catch(
      askToSignIn,
    );
    const page = request.routeOptions.url ?? '';
    if (!mayCall(role, page, undefined)) throw new ApiError('not_permitted');
  }

  return async (scope) => {
    renderErrors(scope, asGeneral);
    scope.addHook('onRequest', admit);
    scope.get('/ops', async (request, reply) => {
      const reloading = !Object.hasOwn(request.query as object, 'still');
      const page = renderOpsPage(await overview.read(clock.now()), { reloading });
      if (reloading) void reply.header('refresh', String(opsRefresh));
      void reply.header('content-security-policy', opsPagePolicy).type('text/html; charset=utf-8');
      return reply.send(page);
    });
    scope.get('/metrics', async (_request, reply) => {
      const text = await metrics.render(await overview.read(clock.now()));
      return reply.type(metrics.contentType).send(text);
    });
  };
}
