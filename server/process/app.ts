import cookie from '@fastify/cookie';
import type { FastifyPluginAsync } from 'fastify';
import { readShell, siteHeaders, siteRoutes } from '../api/docs.ts';
import { discoveryRoutes } from '../api/oauth/routes.ts';
import { createPortal } from '../console/portal/feature.ts';
import { pageCallerPlace } from '../pages/views/caller-place.ts';
import type { Config } from '../platform/config/config.ts';
import { ApiError, unavailableRetryAfter } from '../platform/errors.ts';
import { healthRoutes } from '../platform/http/endpoints/health.ts';
import { describeApi } from '../platform/http/endpoints/openapi.ts';
import type { Readiness } from '../platform/http/endpoints/readiness.ts';
import { asOAuth, renderErrors } from '../platform/http/errors.ts';
import { boundInFlight } from '../platform/http/limits/in-flight.ts';
import { acceptForms } from '../platform/http/parameters.ts';
import { createHttpServer, type HttpServer } from '../platform/http/server.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Services } from './wiring/services.ts';

interface Context extends Pick<Lifecycle, 'isStopping' | 'closed'> {
  config: Config;
  keyring: Keyring;
  logger: Logger;
  readiness: Readiness;
}

/** Paths that a process serves also while it is starting, and after an upgrade has made its build outdated. */
const alwaysOpen = new Set<string | undefined>([
  '/healthz',
  '/readyz',
  '/metrics',
  '/status',
  '/status.json',
]);

function refuseIfClosed(app: HttpServer, closed: Lifecycle['closed']): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const description = alwaysOpen.has(request.routeOptions.url) ? undefined : closed();
    if (description === undefined) return done();
    // `logged`: the process has logged once why it is closed, so the refused requests are not logged.
    const extras = { retryAfter: unavailableRetryAfter, logged: true, description };
    done(new ApiError('service_unavailable', extras));
  });
}

export async function createPublicApp(services: Services, context: Context): Promise<HttpServer> {
  const { config, keyring, logger, readiness, isStopping, closed } = context;
  const app = createHttpServer({
    logger,
    trustProxy: config.trustProxy,
    isStopping,
    errorPage: `${config.baseUrl}/docs/errors`,
  });
  // Cookies come before the first hook that refuses, because the page of a refusal is in the language of the browser's cookie.
  await app.register(cookie);
  refuseIfClosed(app, closed);

  services.tracing?.observeRequests(app);
  services.processMetrics.observeAnswers(app);
  services.admin.observe(app);
  services.status.observe(app);
  await describeApi(app, config.baseUrl);
  await app.register(siteRoutes(config.baseUrl));
  const statusShell = { html: readShell('status', config.baseUrl), headers: siteHeaders };
  const isReady = () => readiness.reasons().length === 0;
  await app.register(services.status.routes(statusShell, isReady));
  await app.register(healthRoutes(readiness));
  // The routes under `/.well-known`, and the metadata under the path of the issuer.
  await app.register(discoveryRoutes(config.baseUrl, keyring));
  await app.register(async (bounded) => {
    boundInFlight(bounded, services.capacity);
    await bounded.register(
      async (scope) => {
        renderErrors(scope, asOAuth);
        acceptForms(scope);
        await scope.register(services.oauth.routes);
      },
      { prefix: '/api/oauth' },
    );
    await bounded.register(services.storefront.routes, { prefix: '/api/integrations/storefront' });
    await bounded.register(services.checkbox.routes, { prefix: '/api/checkbox' });
    await bounded.register(services.account.routes, { prefix: '/api' });
  });
  await app.register(services.sessionQuery.routes, { prefix: '/api/verify' });
  await app.register(
    async (scope) => {
      boundInFlight(scope, services.capacity, pageCallerPlace);
      acceptForms(scope);
      await scope.register(services.verification.routes);
    },
    { prefix: '/verify' },
  );
  if (config.portal) await app.register(createPortal(services.portalParts), { prefix: '/portal' });
  return app;
}

/** Makes the admin listener: tRPC at `/trpc`, for operators only. */
export async function createAdminApp(services: Services, context: Context): Promise<HttpServer> {
  const { logger, readiness, isStopping, closed } = context;
  const app = createHttpServer({ logger, trustProxy: false, isStopping });
  refuseIfClosed(app, closed);
  services.processMetrics.observeAnswers(app);
  await app.register(healthRoutes(readiness));
  await app.register(services.admin.routes);
  return app;
}

/** Makes the private listener, which takes postings from other processes. */
export async function createPeerApp(
  routes: FastifyPluginAsync,
  { logger, isStopping, closed }: Pick<Context, 'logger' | 'isStopping' | 'closed'>,
): Promise<HttpServer> {
  const app = createHttpServer({ logger, trustProxy: false, isStopping });
  refuseIfClosed(app, closed);
  await app.register(routes);
  return app;
}

/** Makes the health listener: the probes, and the metrics of this process. */
export async function createHealthApp(
  services: Services,
  { logger, readiness, isStopping }: Context,
): Promise<HttpServer> {
  const app = createHttpServer({ logger, trustProxy: false, isStopping });
  await app.register(healthRoutes(readiness));
  await app.register(services.admin.metricsRoutes);
  return app;
}
