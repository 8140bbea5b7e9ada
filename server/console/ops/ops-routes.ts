import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminRouter } from '../../operations/admin-router.ts';
import type { BacklogStore } from '../../operations/metrics/backlog-store.ts';
import type { Metrics } from '../../operations/metrics/metrics.ts';
import type { Authenticate } from '../../operations/operators/authentication.ts';
import type { OverviewStore } from '../../operations/overview/overview-store.ts';
import type { StatusSources } from '../../operations/status.ts';
import { mayCall } from '../../platform/admin-api/roles.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReadDatabaseFault } from '../../platform/database/availability.ts';
import { createRememberedRead } from '../../platform/database/reads/remembered-read.ts';
import { createSharedRead } from '../../platform/database/reads/shared-read.ts';
import { ApiError } from '../../platform/errors.ts';
import { asGeneral, renderErrors } from '../../platform/http/errors.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { opsPagePolicy, renderRecordPage } from './ops-frame.ts';
import { opsRefreshSeconds, renderOpsPage } from './ops-page.ts';
import { createRecordReads } from './ops-record-reads.ts';

interface Dependencies {
  authenticate: Authenticate;
  overview: Pick<OverviewStore, 'read'>;
  readProcesses: StatusSources['readProcesses'];
  backlog: Pick<BacklogStore, 'read'>;
  metrics: Metrics;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  databaseFault: ReadDatabaseFault;
  router: AdminRouter;
  guides?: string;
}

/** The caller of the admin API. The role ops reads no personal data, so its reads need no audit entry. */
const caller = {
  operator: { id: 'ops', name: '/ops', role: 'ops' as const },
  requestId: '/ops',
  address: '',
};

/** The time for which scrapers of `/metrics` share one read of the database, in milliseconds. */
const metricsFreshForMs = 15_000;
/** The time for which readers of the page share one read of the database, in milliseconds. */
const pageFreshForMs = 5_000;

/** Turns HTTP Basic, by which browsers sign in, into a bearer token: the password is the operator token. */
function asBearer(authorization: string | undefined): string | undefined {
  const [, credentials] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (credentials === undefined) return authorization;
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  return `Bearer ${decoded.slice(decoded.indexOf(':') + 1)}`;
}

/** Rethrows an error. If the token is missing or wrong, the error makes browsers ask for it. */
function askToSignIn(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'operator_unknown') throw error;
  const headers = { 'www-authenticate': 'Basic realm="SVC operators", charset="UTF-8"' };
  throw new ApiError('operator_unknown', { headers });
}

/** Returns a hook that admits operators who may see the page of the route. */
function createAdmission(authenticate: Authenticate) {
  return async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'no-store');
    const { headers, ip: address } = request;
    // The permission for `/ops` covers the pages of records.
    const page = (request.routeOptions.url ?? '').replace(/^\/ops\/.*/, '/ops');
    const call = { address, path: page };
    const { role } = await authenticate(asBearer(headers.authorization), call).catch(askToSignIn);
    // A page has no input, by which some permissions are restricted.
    if (!mayCall(role, page, undefined)) throw new ApiError('not_permitted');
  };
}

/** @param render makes the text of the metrics */
function metricsRoute(
  scope: FastifyInstance,
  { authenticate, metrics }: Pick<Dependencies, 'authenticate' | 'metrics'>,
  render: () => Promise<string>,
): void {
  const options = { logLevel: 'silent', onRequest: createAdmission(authenticate) } as const;
  scope.get('/metrics', options, async (_request, reply) =>
    reply.type(metrics.contentType).send(await render()),
  );
}

/** Returns the route for the health listener with the metrics of this process. */
export function processMetricsRoutes(authenticate: Authenticate, metrics: Metrics): FastifyPluginAsync {
  return async (scope) => {
    renderErrors(scope, asGeneral);
    metricsRoute(scope, { authenticate, metrics }, metrics.renderProcess);
  };
}

/** Returns the routes `GET /ops` for people and `GET /metrics` for Prometheus. Both require an operator token. */
export function opsRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { authenticate, overview, readProcesses, backlog, metrics, clock } = dependencies;
  const { databaseFault, guides } = dependencies;
  const api = dependencies.router.createCaller(caller);
  const readBacklog = createSharedRead({
    read: async () => ({
      ...(await backlog.read(clock.now())),
      // The metrics are of the worst endpoints only.
      endpoints: await api.webhooks.health({ limit: 20 }),
      missingRoles: (await readProcesses()).missingRoles,
    }),
    freshFor: metricsFreshForMs,
    clock,
  });
  const readOverview = createRememberedRead({
    ...dependencies,
    read: createSharedRead({
      read: async () => ({ ...(await overview.read(clock.now())), ...(await readProcesses()) }),
      freshFor: pageFreshForMs,
      clock,
    }),
  });
  const readRecord = createRecordReads({ ...dependencies, api });

  /** Returns the metrics, without the figures from the database if the database does not answer. */
  async function render(): Promise<string> {
    const figures = databaseFault() ? undefined : await readBacklog().catch(() => undefined);
    return figures ? metrics.render(figures, clock.now()) : metrics.renderProcess();
  }

  return async (scope) => {
    renderErrors(scope, asGeneral);
    metricsRoute(scope, dependencies, render);
    scope.get('/ops', { onRequest: createAdmission(authenticate) }, async (request, reply) => {
      // The page's link `?still` stops the reloading.
      const reloading = !Object.hasOwn(request.query as object, 'still');
      const { last, away } = await readOverview();
      // The clock is compared with the database's, so while the database is away, the page names only that problem.
      const clockTrusted = away !== undefined || clock.trusted();
      const page = renderOpsPage(last?.value, { reloading, guides, away, clockTrusted });
      if (reloading) void reply.header('refresh', String(opsRefreshSeconds));
      void reply.header('content-security-policy', opsPagePolicy).type('text/html; charset=utf-8');
      return reply.send(page);
    });
    scope.get('/ops/:kind/:id', { onRequest: createAdmission(authenticate) }, async (request, reply) => {
      const record = request.params as { kind: string; id: string };
      const { last, away } = await readRecord(record);
      void reply.header('content-security-policy', opsPagePolicy).type('text/html; charset=utf-8');
      return reply.send(renderRecordPage(`/${record.kind}/${record.id}`, last, away));
    });
  };
}
