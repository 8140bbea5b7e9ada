import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { followChoice } from '../../platform/http/browser/language-choice.ts';
import { pageHeaders, serveAsset } from '../../platform/http/browser/pages.ts';
import { codeHeader, renderErrors } from '../../platform/http/errors.ts';
import { boundInFlight, type Capacity } from '../../platform/http/limits/in-flight.ts';
import { acceptForms, pathOf } from '../../platform/http/parameters.ts';
import { ownUnknownRoutes } from '../../platform/http/unknown-routes.ts';
import type { Browser } from './browser.ts';
import { describeError, noPageError } from './error-words.ts';
import { assets, type Responses } from './responses.ts';

interface Dependencies {
  browser: Browser;
  responses: Responses;
  capacity: Capacity;
  /** `/portal/trpc`: the admin API for members. */
  api: FastifyPluginAsync;
  /** `/portal/device`: sign-in of programs. */
  devices: FastifyPluginAsync;
  pages: readonly FastifyPluginAsync[];
}

/** Everything below `/portal`. Expects the cookie plugin in its scope. */
export function portalRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { browser, responses, capacity, api, devices, pages } = dependencies;

  const pageRoutes: FastifyPluginAsync = async (scope) => {
    acceptForms(scope);
    await scope.register(helmet, pageHeaders(browser.secure));
    scope.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      return followChoice(request, reply, browser) ? reply : undefined;
    });
    renderErrors(scope, (thrown, request, reply) => {
      const error = thrown.code === 'route_not_found' ? noPageError(pathOf(request.url)) : thrown;
      const m = responses.messagesOf(request);
      void reply.header(codeHeader, error.code);
      const values = {
        heading: error.status === 404 ? m.notFound : m.problem,
        ...describeError(error, m, responses.languageOf(request)),
        requestId: request.id,
      };
      return responses.send(request, reply, 'problem', values, { status: error.status });
    });
    ownUnknownRoutes(scope);
    for (const page of pages) await scope.register(page);
  };

  return async (portal) => {
    // Assets are small and already in memory, so they take no capacity.
    boundInFlight(portal, capacity, ({ routeOptions }) =>
      routeOptions.url?.includes('/assets/') ? undefined : { kind: 'unauthenticated' },
    );
    for (const asset of assets) serveAsset(portal, '/assets/', asset);
    await portal.register(api);
    await portal.register(devices, { prefix: '/device' });
    await portal.register(pageRoutes);
  };
}
