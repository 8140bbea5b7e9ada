import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { followChoice } from '../../platform/http/browser/language-choice.ts';
import { pageHeaders, serveAsset } from '../../platform/http/browser/pages.ts';
import { codeHeader, renderErrors } from '../../platform/http/errors.ts';
import { boundInFlight, type Capacity } from '../../platform/http/limits/in-flight.ts';
import { acceptForms, pathOf } from '../../platform/http/parameters.ts';
import { ownUnknownRoutes } from '../../platform/http/unknown-routes.ts';
import { memberApiRoutes } from './calls/trpc-routes.ts';
import { deviceRoutes } from './device/device-routes.ts';
import { describeError, noPageError } from './error-words.ts';
import { pageRoutes } from './page-routes.ts';
import type { PortalParts } from './parts.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { assets } from './responses.ts';
import type { DocumentRow, PageRow } from './views/kit/page.ts';

/** Everything below `/portal`. Expects the cookie plugin in its scope. */
export function portalRoutes(
  parts: PortalParts,
  capacity: Capacity,
  pages: readonly PageRow[],
  documents: readonly DocumentRow[],
): FastifyPluginAsync {
  const { browser, responses } = parts;

  const ofPages: FastifyPluginAsync = async (scope) => {
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
    await scope.register(passkeyRoutes(parts));
    await scope.register(pageRoutes(parts, pages, documents));
  };

  return async (portal) => {
    // Assets are small and already in memory, so they take no capacity.
    boundInFlight(portal, capacity, ({ routeOptions }) =>
      routeOptions.url?.includes('/assets/') ? undefined : { kind: 'unauthenticated' },
    );
    for (const asset of assets) serveAsset(portal, '/assets/', asset);
    await portal.register(memberApiRoutes(parts));
    await portal.register(deviceRoutes(parts), { prefix: '/device' });
    await portal.register(ofPages);
  };
}
